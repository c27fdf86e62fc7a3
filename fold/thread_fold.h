// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Folds a thread's records into its profile (trace/raw/profile.h), window by window, by whoever
// holds the log. It runs inside the measured program, maybe in a signal handler: it reads records
// and the region alone, no clock, allocates nothing, waits for nothing and does not fail. All that
// it knows lies in the region as plain data, so a copy of it goes on from there.
//
// The same records give the same rows, however they are cut into windows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "fold/change.h"
#include "fold/rows.h"

namespace culprit::fold {

struct FoldState;

/// A view of a region; copy it freely. MT: one thread at a time.
class ThreadFold {
 public:
  /// Makes the region of a log that begins: `memory` is zeroed and whole pages, as many as the
  /// log's quota says. `origin`: RawProcess::start_ticks.
  static ThreadFold begin(std::span<std::byte> memory, uint32_t log, uint64_t origin);
  /// A region that was made before, or a copy of one. Whether it is one, `is_region` says.
  static ThreadFold resume(std::span<std::byte> memory);
  static bool is_region(std::span<const std::byte> memory);

  /// Folds the records of window `number` of the log up to `end`, from where it had come before: a
  /// window may come in pieces, which end between records. `grows`: the last record before `end`
  /// may still change; what of it is final is folded, and the rest when it comes again. False if it
  /// stopped because `changes`, to which ends of stretches and held locks are added, is nearly
  /// full: take entries out and call it again.
  bool fold(uint64_t number, std::span<const std::byte> window, size_t end, bool grows = false,
            ChangeList* changes = nullptr);

  const ProfileLog& log() const;
  /// The window that came last, and how many of its bytes are folded.
  uint64_t window() const;
  size_t bytes_of_window() const;
  /// The row of the frame at the end of a call path, by its number in the log; the root if it is
  /// not known.
  uint32_t row_of_path(uint32_t path) const;

 private:
  explicit ThreadFold(std::byte* region) : region_(region) {}
  std::byte* region_;
};

}  // namespace culprit::fold
