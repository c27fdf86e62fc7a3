// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// How the program arranged a communicator's processes, as MPI reports it.
#pragma once

#include <mpi.h>

#include <vector>

#include "collector/mpi/groups/comm.h"
#include "collector/process/recorder.h"

namespace culprit::collector::mpi {

/// Neighbours as the buffers of neighbourhood collectives list them (neighborhood.h).
struct NeighborRanks {
  std::vector<int> in, out;
};
/// None if the communicator has no topology. Throws std::bad_alloc.
NeighborRanks neighbor_ranks(MPI_Comm handle, const Comm& comm);

/// Records this process's place in a grid, or its neighbours in a graph. Writes no record for other
/// communicators, nor without memory: the topology only serves pictures.
void write_topology(ThreadLog& log, uint64_t time, MPI_Comm handle, const Comm& comm);

}  // namespace culprit::collector::mpi
