// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Answers to OpenMP calls in a process without any OpenMP runtime. Objects that refer to omp_*
// weakly, to call it only if it is there, find our stand-ins there: they must hear what a serial
// program hears.
#pragma once

namespace culprit::collector::openmp {

/// Never nullptr.
void* serial_answer(const char* name);

}  // namespace culprit::collector::openmp
