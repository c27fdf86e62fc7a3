// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Whether another OpenMP runtime can stand in for libgomp: reads which functions the loaded objects
// that were linked with libgomp need, and looks whether the other has them.
#pragma once

#include <cstddef>

namespace culprit::collector::openmp {

/// Whether `candidate`, a dlopen handle, has all functions that the objects linked with libgomp
/// need. If not, `lacking` gets the first name that it lacks, or stays empty if the objects could
/// not be read.
bool answers_all_needs(void* candidate, char* lacking, size_t capacity);

}  // namespace culprit::collector::openmp
