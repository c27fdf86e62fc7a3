// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// When processes were outside of MPI: none of their threads was in an MPI call. Many MPI libraries
// move data only when they are called, so operations that need a process's help stand still
// meanwhile.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "base/column.h"
#include "replay/model/run.h"

namespace culprit::replay {

/// Between two calls of MPI.
struct Silence {
  Time begin, end;
  LocationId back;  ///< whose call ended it
};

/// Shorter silences are ignored: background activity of the machine lasts as long.
inline constexpr Duration kShortestSilence = Duration::from_nanos(100'000);

/// Those of at least kShortestSilence, of all ranks' processes.
class Silences {
 public:
  /// Collective.
  Silences(const Run& run, unsigned threads);
  explicit Silences(std::vector<Column<Silence>> by_process) : by_process_(std::move(by_process)) {}

  /// In order of time.
  std::span<const Silence> of(ProcessId process) const { return by_process_[process.index()]; }
  /// Returns the last silence that begins before `time`; null if there is none.
  const Silence* last_before(ProcessId process, Time time) const;

 private:
  std::vector<Column<Silence>> by_process_;
};

}  // namespace culprit::replay
