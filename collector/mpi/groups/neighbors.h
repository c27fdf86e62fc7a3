// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A process's neighbours in its communicator's topology, asked of MPI once for each communicator.
#pragma once

#include <mpi.h>

#include "collector/mpi/groups/comms.h"
#include "collector/mpi/groups/neighborhood.h"

namespace culprit::collector::mpi {

/// Empty if the communicator has no topology; nullptr if there is no memory.
/// MT: safe; no lock unless it is the first time.
const Neighborhood* neighborhood_of(ThreadLog& log, uint64_t time, MPI_Comm handle,
                                    const Comm& comm);

}  // namespace culprit::collector::mpi
