// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// MPI functions that the program looks up in a library's handle.
#pragma once

namespace culprit::collector::mpi {

/// The library's own definition: dlsym(), as the program calls it, finds the definition that stands
/// before it.
void* function_of_library(void* handle, const char* name);

}  // namespace culprit::collector::mpi
