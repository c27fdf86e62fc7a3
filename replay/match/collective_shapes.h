// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Who waits for whom in a collective operation, by what it does with data. What ends for a member
// cannot have ended before those had begun that it gets data from, as the MPI standard has it:
//
//   barrier, N x N   everybody waits for everybody
//   one to all       receivers wait for the root
//   all to one       the root waits for everybody
//   prefix (scan)    a rank waits for the lower ranks
//   neighbours       a rank waits for those that it gets data from
//   fence            everybody waits for everybody, but what a fence promises may spare it
//
// Where the trace says that some exchange no data with some others, nobody waits for those. On an
// inter-communicator data flows between its two groups alone: the root's own group waits for
// nobody, and only making something of the communicator takes all of both; but libraries make
// barriers and N x N wait for both groups, and where nobody left before the last of both came, each
// has waited for that one. Communicator creation,
// MPI_Finalize and collective calls on files count as N x N, and so does MPI_Init for those that
// are still in it when the last one comes. Freeing a communicator does not: nothing in the standard
// makes it wait.
#pragma once

#include <span>
#include <vector>

#include "replay/match/collectives.h"

namespace culprit::replay {

enum class Shape { none, barrier, all_to_all, one_to_all, all_to_one, prefix, neighbors, fence };

struct CollectiveKind {
  Shape shape = Shape::none;
  bool starts_world = false;  ///< MPI_Init
  /// The standard lets a member leave before the last has entered: only who was still there then
  /// has waited for it. Elsewhere such times mean that clocks disagree.
  bool may_leave_early = false;
};

class CollectiveShapes {
 public:
  explicit CollectiveShapes(const Run& run);

  /// Of the operation that these are parts of.
  CollectiveKind of(std::span<const Part> parts) const;
  /// Whether some exchange no data with some others.
  static bool sparse(std::span<const Part> parts);
  /// Of an inter-communicator: whether nobody has left when the last one of both groups enters.
  /// Libraries gather within each group before the two exchange anything, but need not.
  static bool left_together(std::span<const Part> parts);
  /// Whom this one gets data from, if that is not everybody; sorted.
  const std::vector<ProcessId>* givers(const Part& taker) const {
    const culprit::GroupId from = taker.op->receives_from;
    return from.valid() ? &sets_[from.index()] : nullptr;
  }
  /// Whether data flows from one member to another, as far as the two tell.
  bool gives(const Part& giver, const Part& taker) const {
    if (giver.side == taker.side && giver.side != Side::whole) return false;
    return takes_any(taker) && contains(giver.op->sends_to, taker) &&
           contains(taker.op->receives_from, giver);
  }
  /// Null if there is none, or if it did not take part.
  static const Part* root_of(std::span<const Part> parts);

 private:
  /// Who does not say who its neighbours are gets nothing from them.
  static bool takes_any(const Part& part) {
    return part.op->op != trace::CollectiveOp::neighbor || part.op->receives_from.valid();
  }
  bool contains(culprit::GroupId group, const Part& part) const;

  const Run& run_;
  std::vector<std::vector<ProcessId>> sets_;  // by GroupId of the trace, sorted
};

}  // namespace culprit::replay
