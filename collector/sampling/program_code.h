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

/// The name of the file from which such a call comes, the C++ library left out; empty if it is the
/// program's or has no name, nullptr if it is unknown. It lives as long as the file is loaded.
const char* file_that_calls(uintptr_t cfa);
/// Whether a library of this name makes threads for itself.
bool is_helpers_file(const char* name);

/// Whether this code belongs to a library that makes threads for itself. Much cheaper, but a call
/// through the C++ library is nobody's.
bool is_helpers_code(uintptr_t address);

/// Whether it is the collector's own.
bool is_collectors_code(uintptr_t address);

}  // namespace culprit::collector::sampling
