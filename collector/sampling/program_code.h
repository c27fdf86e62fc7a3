// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Whose code is whose, by the file that it was loaded from: what a program does by itself, and what
// the libraries below it do for themselves (threads that make MPI progress, a runtime's workers).
#pragma once

#include <cstdint>

namespace culprit::collector::sampling {

/// At load: whether the process has a library of MPI, OpenMP or devices.
bool has_observed_runtime();

/// Whether a call to the function with this canonical frame address comes from the program, be it
/// through the C++ library, and not from a library that makes threads for itself.
bool is_called_by_program(uintptr_t cfa);

/// Whether this code belongs to a library that makes threads for itself. Much cheaper, but a call
/// through the C++ library is nobody's.
bool is_helpers_code(uintptr_t address);

}  // namespace culprit::collector::sampling
