// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Answers to OpenMP calls in a process without any OpenMP runtime. Objects that refer to omp_*
// weakly, to call it only if it exists, find our stand-ins: they must return the same values as in
// a serial program.
#pragma once

namespace culprit::collector::openmp {

/// Never nullptr.
void* serial_answer(const char* name);

}  // namespace culprit::collector::openmp
