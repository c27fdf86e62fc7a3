// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Where synchronisation intervals begin: each waiter of this rank and its cause met last in some
// operation, which both have left at times of their own.
#pragma once

#include <vector>

#include "blame/delay.h"

namespace culprit::blame {

class Intervals {
 public:
  /// Finds all meetings, in parallel over waiters. Refers to both.
  Intervals(const replay::Run& run, const replay::WaitGraph& graph, unsigned threads);

  /// The waiter's part in the operation in which it and its cause met last. Whoever never met met
  /// when the run began.
  replay::Sync meeting(WaitRef ref) const {
    const uint32_t number = numbers_[ref.location.index()][ref.wait];
    if (number != kNever) return graph_.syncs[ref.location.index()][number];
    return replay::Sync::with(LocationId::none(), run_.begin, run_.begin);
  }
  /// When the cause left the same operation. `place` is where its part was found last; the next is
  /// often near.
  Time exit_of(LocationId late, const replay::Sync& meeting, size_t& place) const;

 private:
  static constexpr uint32_t kNever = UINT32_MAX;

  const replay::Run& run_;
  const replay::WaitGraph& graph_;
  std::vector<Column<uint32_t>> numbers_;    // by LocationId of the waiter, by its waits
  std::vector<Column<uint32_t>> instances_;  // by LocationId: its syncs in groups, by instance
};

}  // namespace culprit::blame
