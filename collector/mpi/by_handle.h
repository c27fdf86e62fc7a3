// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Functions of MPI that are asked of a library's handle.
#pragma once

namespace culprit::collector::mpi {

/// What the library itself has: dlsym(), which the program calls, answers with what stands before
/// it.
void* function_of_library(void* handle, const char* name);

}  // namespace culprit::collector::mpi
