// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Who waits for whom in a collective operation, by its data flow. By the MPI standard, an operation
// cannot end for a member before the members that it gets data from have begun:
//
//   barrier, N x N   every member waits for all others
//   one to all       receivers wait for the root
//   all to one       the root waits for all others
//   prefix (scan)    a rank waits for the lower ranks
//   neighbours       a rank waits for those that it gets data from
//   fence            every member waits for all others, unless the fence's assertions spare it
//
// Where the trace says that two members exchange no data, neither waits for the other. On an
// inter-communicator data flows only between its two groups: the root's own group waits for no
// member, and only operations that create something from the communicator need all of both. But
// libraries make barriers and N x N wait for both groups, and where no member left before the last
// of both came, each has waited for that one. Communicator creation, MPI_Finalize and collective
// calls on files count as N x N, and so does MPI_Init for those that are still in it when the last
// one comes. Freeing a communicator does not: nothing in the standard makes it wait.
#pragma once

#include <span>
#include <vector>

#include "replay/match/collectives.h"

namespace culprit::replay {

enum class Shape { none, barrier, all_to_all, one_to_all, all_to_one, prefix, neighbors, fence };

struct CollectiveKind {
  Shape shape = Shape::none;
  bool starts_world = false;  ///< MPI_Init
  /// The standard lets a member leave before the last has entered: only members that were still
  /// there then have waited for it. Where this is false, such times mean that clocks disagree.
  bool may_leave_early = false;
};

class CollectiveShapes {
 public:
  explicit CollectiveShapes(const Run& run);

  /// Returns the kind of the operation that these are parts of.
  CollectiveKind of(std::span<const Part> parts) const;
  /// Returns whether some members exchange no data with some others.
  static bool sparse(std::span<const Part> parts);
  /// On an inter-communicator: returns whether no member has left when the last one of both groups
  /// enters. Libraries gather within each group before the two exchange anything, but need not.
  static bool left_together(std::span<const Part> parts);
  /// Returns the processes that this member gets data from, if not all, sorted; else nullptr.
  const std::vector<ProcessId>* givers(const Part& taker) const {
    const culprit::GroupId from = taker.op->receives_from;
    return from.valid() ? &sets_[from.index()] : nullptr;
  }
  /// Returns whether data flows from one member to another, according to both parts.
  bool gives(const Part& giver, const Part& taker) const {
    if (giver.side == taker.side && giver.side != Side::whole) return false;
    return takes_any(taker) && contains(giver.op->sends_to, taker) &&
           contains(taker.op->receives_from, giver);
  }
  /// Null if there is no root, or if it did not take part.
  static const Part* root_of(std::span<const Part> parts);

 private:
  /// A member whose neighbours are not recorded gets nothing from them.
  static bool takes_any(const Part& part) {
    return part.op->op != trace::CollectiveOp::neighbor || part.op->receives_from.valid();
  }
  bool contains(culprit::GroupId group, const Part& part) const;

  const Run& run_;
  std::vector<std::vector<ProcessId>> sets_;  // by GroupId of the trace, sorted
};

}  // namespace culprit::replay
