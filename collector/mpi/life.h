// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Functions that process.cpp and sessions.cpp share: MPI is in use while it is initialised or a
// session is open, and a process has ended it in order when neither is.
#pragma once

#include "collector/mpi/region.h"

namespace culprit::collector::mpi {

void mpi_begins(const CallRegion& region);
/// Works without a log, too: destructors of libraries may finalise MPI after the end of the record.
void mpi_ends(const CallRegion& region);

/// Takes the rank from the launcher's variables, so that a process that dies while MPI is being
/// initialised has one. MPI's own answer replaces it when it comes.
void take_launchers_word();

/// Records the first line of the library's description of itself, and the level of threads.
void describe_library(trace::RawProcess& process);

}  // namespace culprit::collector::mpi
