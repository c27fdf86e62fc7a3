// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A process's neighbours in its communicator's topology.
#pragma once

#include <vector>

#include "collector/mpi/groups/rank_set.h"

namespace culprit::collector::mpi {

/// The neighbours on one side, as the buffers and counts of a neighbourhood collective list them:
/// MPI_PROC_NULL beyond the border of a grid, one process twice if it is two neighbours.
struct Neighbors {
  std::vector<int> ranks;      ///< by place in the list
  std::vector<int> ascending;  ///< places of those that are processes, by rank
  RankSet all = RankSet::implied;

  int processes() const { return static_cast<int>(ascending.size()); }
};

struct Neighborhood {
  Neighbors in, out;
};

}  // namespace culprit::collector::mpi
