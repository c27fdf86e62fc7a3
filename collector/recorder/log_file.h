// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The two files of a thread's log (trace/raw/raw.h): the tail, mapped, into which records are
// stored, and the file of packed windows, which is made when the first window is full, and to which
// each full one is appended. There are two because storing into fresh pages of a mapped file costs
// a page fault and the file system's bookkeeping each, six times the price of writing the same
// window from memory that is mapped already; and because packed windows need a fraction of the
// room. And yet all records are in a file at any moment, so that they survive SIGKILL. Where the
// tail cannot be mapped (file systems without shared mappings, filters of system calls, no room
// yet), its window is in memory only, and is written from time to time: records after the last such
// write are lost if the process is killed. MT: one thread, but for write_all. Async-signal-safe,
// but for its effect on `errno`.
#pragma once

#include <atomic>
#include <climits>
#include <cstddef>
#include <cstdint>

#include "trace/raw/packed.h"
#include "trace/raw/raw.h"
#include "trace/raw/seal.h"

namespace culprit::collector {

class LogFile {
 public:
  /// Makes the tail of `folder`/events.`number`, of kRawWindow bytes or a smaller power of two, for
  /// a process that began at `start_ticks`. The disk has room for the window's first `room` bytes.
  /// False (and no memory) if neither a mapped tail nor one in memory is possible.
  bool open(const char* folder, uint32_t number, size_t window_bytes, size_t room,
            uint64_t start_ticks);
  /// Makes room for the window's first `room` bytes, where it has some for `before` of them. A
  /// store into a part without room could end the program. False if the disk has none.
  bool widen(size_t before, size_t room);
  /// Makes a window in memory only, for calibration.
  bool open_scratch();
  /// Gives a window in memory, of which `used` bytes are written, the two files, with room for
  /// `room` bytes. False (and no window) if that is impossible. The window has no checksum then.
  bool settle(const char* folder, uint32_t number, size_t used, size_t room, uint64_t start_ticks);

  /// The memory into which records are stored; nullptr unless open.
  char* window() const { return window_; }
  size_t window_bytes() const { return window_bytes_; }
  /// The slots for the thread's open states (trace::RawOpen); nullptr unless open.
  trace::RawOpen* open_slots() { return window_ != nullptr ? tail().open : nullptr; }

  /// The checksum of the window's first `used` bytes, whose raw_sum is `sum`.
  uint64_t seal_of(uint64_t sum, size_t used) const {
    return trace::raw_seal(sum, seed_, used / sizeof(uint64_t));
  }
  /// Stores that checksum in the tail.
  void seal(uint64_t sum, size_t used) {
    std::atomic_ref<uint64_t>(tail().seal).store(seal_of(sum, used), std::memory_order_release);
  }

  /// True if the window is in memory only: then the tail's file has the window's content of the
  /// last call of write_behind(), or less if it cannot be written.
  bool is_written_behind() const { return in_memory_; }
  /// Writes such a window to its file. False on failure: then the file may hold records behind the
  /// part that its checksum covers.
  bool write_behind();
  /// The same for the windows of all threads, for a process that ends. They may go on recording.
  /// Returns the number of incomplete files.
  static unsigned write_all();

  /// Appends the window's first `bytes`, which must be full, packed. False if that is impossible:
  /// then nothing of it is in the file.
  bool append_window(size_t bytes);
  /// Clears these bytes, which were appended; the window's checksum is that of an empty one.
  /// `is_last`: later windows are dropped.
  void turn_over(size_t bytes, bool is_last);
  /// Of this window and later ones, none is appended.
  void drop_from_now_on();
  /// Whether full windows are dropped.
  bool drops() const { return window_ != nullptr && tail().kept != 0; }
  /// Clears the window, of which `used` bytes are written, without appending it.
  void drop(size_t used) { clear(used); }
  /// Number of windows before this one.
  uint64_t number_of_window() const { return tail().window; }

  /// Appends the first `used` bytes of the window, unless windows are dropped, and releases
  /// everything.
  void close(size_t used);

 private:
  const trace::RawTail& tail() const {
    return *reinterpret_cast<const trace::RawTail*>(window_ + window_bytes_);
  }
  trace::RawTail& tail() { return *reinterpret_cast<trace::RawTail*>(window_ + window_bytes_); }
  void reseed(uint64_t window);
  /// For an estimate only the first windows are kept; the tail counts the others.
  bool is_only_counted();
  bool append(size_t bytes, size_t window_bytes);
  bool append_blocks(size_t bytes, size_t window_bytes);
  void clear(size_t used);
  void be_in_memory(int refusal);
  bool write_tail(const char* path, trace::RawTail& copy, size_t& has);
  void leave_list();

  char* window_ = nullptr;
  size_t window_bytes_ = 0;
  bool has_file_ = false;
  uint32_t number_ = 0;
  uint64_t start_ticks_ = 0;
  uint64_t seed_ = 0;                       ///< seed of the window's checksum
  bool in_memory_ = false;                  ///< the window is in memory only: the tail is not
                                            ///< mapped
  size_t written_ = 0;                      ///< bytes of such a window that its file has
  trace::RawTail shown_ = {};               ///< the file's header for them
  std::atomic<LogFile*>* place_ = nullptr;  ///< its entry in the list of such logs
  const char* path_with(const char* suffix);

  trace::RawPacker packer_;
  size_t packed_bytes_ = 0;  ///< that the file of packed windows has

  // Buffer for file names: the threads that need them may have next to no stack.
  char path_[PATH_MAX + 8] = {};
  int length_ = 0;
};

}  // namespace culprit::collector
