// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// When synchronisation intervals begin: the last moment at which a waiter of this rank and its
// cause synchronised, no later than the begin of the wait. It is the same on both.
#pragma once

#include <vector>

#include "blame/delay/delay.h"

namespace culprit::blame {

class Intervals {
 public:
  /// Finds all these synchronisations, in parallel over waiters. Collective.
  Intervals(const replay::Run& run, const replay::WaitGraph& graph, unsigned threads);

  /// Returns the begin of a wait's interval. Two locations that never synchronised count as
  /// synchronised when the run began, or when the younger of two threads did.
  Time begin(WaitRef ref) const { return begins_[ref.location.index()][ref.wait]; }

 private:
  std::vector<Column<Time>> begins_;  // by LocationId of the waiter, by its waits and ties
};

}  // namespace culprit::blame
