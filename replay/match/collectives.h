// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Which calls belong to one collective operation: the n-th collective that each member calls on a
// communicator is the same operation on all of them (MPI demands that order).
#pragma once

#include <functional>
#include <memory>
#include <span>

#include "base/losses.h"
#include "replay/match/collective_part.h"

namespace culprit::replay {

/// Called with one operation after the other, of one communicator, its parts by rank; those of the
/// second group of an inter-communicator follow those of the first.
class OperationVisitor {
 public:
  virtual ~OperationVisitor() = default;
  virtual void visit(std::span<const Part> parts) = 0;
};

/// Finds all operations. The work is split into shares, numbered over all ranks; `visitor_of` makes
/// the visitor of one of this rank's, and those of different shares work at the same time. `shares`
/// receives their number on all ranks. Collective: a part may belong to a process of another rank.
struct CollectiveVisitors {
  std::function<void(size_t)> shares;
  std::function<std::unique_ptr<OperationVisitor>(size_t)> visitor_of;
};
void match_collectives(const Run& run, unsigned threads, const CollectiveVisitors& visitors,
                       Losses& losses);

}  // namespace culprit::replay
