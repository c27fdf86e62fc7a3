// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What process.cpp and sessions.cpp share: MPI is in use while it is initialised or a session is
// open, and a process has ended it in order when neither is.
#pragma once

#include "collector/mpi/region.h"

namespace culprit::collector::mpi {

void mpi_begins(const CallRegion& region);
/// Without a log, too: destructors of libraries may finalise MPI after the end of the record.
void mpi_ends(const CallRegion& region);

/// A process that dies while MPI is initialised should be known by its rank all the same. MPI's own
/// word counts where it comes.
void take_launchers_word();

/// The first line of what the library says of itself, and the level of threads.
void describe_library(trace::RawProcess& process);

}  // namespace culprit::collector::mpi
