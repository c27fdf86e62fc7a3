// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The two files of a thread's log (trace/raw.h): the tail, mapped, into which records are stored,
// and the events file, to which each full window is appended. Why two: storing into fresh pages of
// a mapped file costs a page fault and the file system's bookkeeping each, six times the price of
// writing the same window from memory that is mapped already. And yet all records lie in a file at
// any moment, so that they survive SIGKILL. MT: one thread. Async-signal-safe, but for what `errno`
// does.
#pragma once

#include <climits>
#include <cstddef>
#include <cstdint>

namespace culprit::collector {

class LogFile {
 public:
  /// Makes `folder`/events.`number` and its tail, kRawWindow or a smaller power of two. False (and
  /// no memory) if the disk has no room for the tail.
  bool open(const char* folder, uint32_t number, size_t window_bytes);
  /// A window in memory only, for calibration.
  bool open_scratch();
  /// Gives a window in memory, of which `used` bytes are written, the two files. False (and no
  /// window) if that is impossible.
  bool settle(const char* folder, uint32_t number, size_t used);

  /// Where records are stored; nullptr unless open.
  char* window() const { return window_; }
  size_t window_bytes() const { return window_bytes_; }

  /// Appends the window, which must be full, and clears it. False if that is impossible: then the
  /// window keeps what it has.
  bool turn_over();

  /// Appends the first `used` bytes of the window and gives all back.
  void close(size_t used);

 private:
  /// For an estimate the first windows suffice; the tail counts the others.
  bool is_only_counted() const;
  bool append(size_t bytes);
  void clear();

  char* window_ = nullptr;
  size_t window_bytes_ = 0;
  bool has_file_ = false;
  const char* events_path();
  const char* tail_path();

  // Names are put together in here: the threads that need them may have next to no stack.
  char path_[PATH_MAX + 8] = {};
  int length_ = 0;
};

}  // namespace culprit::collector
