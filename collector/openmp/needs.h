// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Whether one OpenMP runtime can stand in for another: reads what the loaded objects that were
// linked with the one ask for, and looks whether the other has it.
#pragma once

namespace culprit::collector::openmp {

/// `candidate`: a dlopen handle; `runtime`: the soname that objects were linked with.
bool answers_all_needs(void* candidate, const char* runtime);

}  // namespace culprit::collector::openmp
