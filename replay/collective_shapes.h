// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Who waits for whom in a collective operation, by what it does with data. What ends for a member
// cannot have ended before those had begun that it gets data from, as the MPI standard has it:
//
//   barrier, N x N   everybody waits for everybody
//   one to all       receivers wait for the root
//   all to one       the root waits for everybody
//   prefix (scan)    a rank waits for the lower ranks
//
// Where the trace says that some exchange no data with some others, nobody waits for those.
// Communicator creation and MPI_Finalize count as N x N; freeing and MPI_Init do not: nothing in
// the standard makes them wait.
#pragma once

#include <span>
#include <vector>

#include "replay/match_collectives.h"

namespace culprit::replay {

enum class Shape { none, barrier, all_to_all, one_to_all, all_to_one, prefix };

class CollectiveShapes {
 public:
  explicit CollectiveShapes(const Run& run);

  /// Of the operation that these are parts of.
  Shape of(std::span<const Part> parts) const;
  /// Whether some exchange no data with some others.
  static bool sparse(std::span<const Part> parts);
  /// Whether data flows from one member to another, as far as the two tell.
  bool gives(const Part& giver, const Part& taker) const {
    return contains(giver.op->sends_to, taker) && contains(taker.op->receives_from, giver);
  }
  /// Null if there is none, or if it did not take part.
  static const Part* root_of(std::span<const Part> parts);

 private:
  bool contains(culprit::GroupId group, const Part& part) const;

  const Run& run_;
  std::vector<std::vector<ProcessId>> sets_;  // by GroupId of the trace, sorted
};

}  // namespace culprit::replay
