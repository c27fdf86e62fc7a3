// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// When synchronisation intervals begin: the moment in which a waiter of this rank and its cause met
// last, no later than the wait began. It is the same on both.
#pragma once

#include <vector>

#include "blame/delay/delay.h"

namespace culprit::blame {

class Intervals {
 public:
  /// Finds all meetings, in parallel over waiters. Collective.
  Intervals(const replay::Run& run, const replay::WaitGraph& graph, unsigned threads);

  /// Whoever never met met when the run began, or when the younger of two threads did.
  Time begin(WaitRef ref) const { return begins_[ref.location.index()][ref.wait]; }

 private:
  std::vector<Column<Time>> begins_;  // by LocationId of the waiter, by its waits and ties
};

}  // namespace culprit::blame
