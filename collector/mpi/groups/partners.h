// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The processes that a process really sends to and receives from in a collective operation, where
// they differ from those that the operation's kind implies: some counts are zero, or only
// neighbours exchange data. The process itself does not matter: a set that lacks only the process
// itself counts as implied.
#pragma once

#include "collector/mpi/groups/comms.h"
#include "collector/mpi/groups/neighbors.h"
#include "collector/mpi/groups/rank_set.h"
#include "collector/mpi/handlers.h"

namespace culprit::collector::mpi {

/// In an inter-communicator's root group, the processes that are not root pass MPI_PROC_NULL.
enum class Part { root, other, bystander };

Part part_in(const Collective& call, const Comm& comm);

struct Partners {
  RankSet sends_to = RankSet::implied;
  RankSet receives_from = RankSet::implied;
};

/// `neighborhood`: only for neighbourhood collectives.
Partners partners_in(ThreadLog& log, uint64_t time, const Collective& call, const Comm& comm,
                     const Neighborhood* neighborhood);

}  // namespace culprit::collector::mpi
