// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Who a process's neighbours are in its communicator's topology, asked once for each communicator.
#pragma once

#include <mpi.h>

#include <vector>

#include "collector/mpi/groups/comms.h"
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

/// Empty if the communicator has no topology; nullptr if there is no memory.
/// MT: safe; no lock unless it is the first time.
const Neighborhood* neighborhood_of(ThreadLog& log, uint64_t time, MPI_Comm handle,
                                    const Comm& comm);

}  // namespace culprit::collector::mpi
