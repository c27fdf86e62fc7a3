// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Whether another OpenMP runtime can stand in for libgomp: reads what the loaded objects that were
// linked with libgomp ask for, and looks whether the other has it.
#pragma once

#include <cstddef>

namespace culprit::collector::openmp {

/// Whether `candidate`, a dlopen handle, has what all objects ask for that were linked with
/// libgomp. If not, `lacking` gets the first name that it lacks, or stays empty if the objects
/// could not be read.
bool answers_all_needs(void* candidate, char* lacking, size_t capacity);

}  // namespace culprit::collector::openmp
