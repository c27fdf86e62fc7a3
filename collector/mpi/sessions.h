// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Sessions (MPI 4): MPI without MPI_Init and MPI_COMM_WORLD. Built only for an MPI that has them. A
// process's rank and the members of its communicators come from the process set of all processes;
// where that fails, from the launcher's variables.
#pragma once

#include "collector/mpi/arguments.h"
#include "collector/mpi/region.h"

namespace culprit::collector::mpi {

int on_session_init(const Function& function, const HandlePlace& session, RealCall call);
int on_session_finalize(const Function& function, const HandlePlace& session, RealCall call);

}  // namespace culprit::collector::mpi
