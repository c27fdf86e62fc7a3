// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Compares the clocks of a job's nodes, once when MPI is up and once before it goes down, so that
// the assembler can put all of them on one axis (RawKind::clock_met). Rank 0 asks one process of
// each node for its time, several times; the quickest answer counts.
//
// The program must not notice any of it. So there are no collectives over other processes, only
// messages between two processes which both are inside MPI_Init or MPI_Finalize. The first of them,
// inside MPI_Init, go by MPI_COMM_WORLD; all later ones by a communicator of the two, so that no
// receive of the program can take them. Every wait has an end. And no message goes to a process
// that may not be measured, since it would never answer: a process that takes part leaves a mark
// beside the raw records, where rank 0 looks. A process that is not asked within kPatience takes
// its mark back. Marks change hands by rename, which only one side can win. In a job on one node
// (one clock) there are no messages at all.
#pragma once

namespace culprit::collector::mpi::clock_sync {

/// Before MPI is initialised: marks this process's node, unless another process has done that.
void announce();

/// After MPI's initialisation, before the program goes on: compares clocks.
void meet_at_start();

/// Before MPI is finalised: the pairs of the start compare clocks again.
void meet_at_end();

}  // namespace culprit::collector::mpi::clock_sync
