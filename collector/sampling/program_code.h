// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Which file code was loaded from, and so whose it is: whether the program calls by itself, or a
// library below it does so for itself (threads that make MPI progress, a runtime's workers).
#pragma once

#include <cstdint>

#include "collector/callpath/frames.h"
#include "collector/process/recorder.h"

struct link_map;

namespace culprit::collector::sampling {

/// At load: what follows can be called from signal handlers then.
void find_object_finder();

/// The loaded object that holds the code; nullptr: none. It may be unloaded at any moment, unless
/// it is the caller's own, or further out on its stack.
const link_map* object_of(uintptr_t address);

/// At load: whether the process has a library of MPI, OpenMP or devices.
bool has_observed_runtime();

/// Whether a call to the function with this canonical frame address comes from the program, even
/// through the C++ library, and not from a library that makes threads for itself.
bool is_called_by_program(uintptr_t cfa);

/// The name of the file from which such a call comes, leaving out the C++ library; empty if it is
/// the program's or has no name, nullptr if it is unknown. It lives as long as the file is loaded.
const char* file_that_calls(uintptr_t cfa);
/// Whether a library of this name makes threads for itself.
bool is_helpers_file(const char* name);

/// Whether this code belongs to a library that makes threads for itself. Much cheaper, but does not
/// look behind the C++ library.
bool is_helpers_code(uintptr_t address);

/// Whether a library that makes threads for itself, as MPI's do, called the program back on this
/// stack: the program's code comes before the library's. That is the executable's, or of a file
/// that calls the library, or has given it functions to call: others may be the library's own
/// servants, as transports are.
bool is_called_back(const Frames& frames);

/// Whether what a call to the function with this canonical frame address does is to be recorded:
/// not inside MPI and its like, but for functions of the program's that these have called back.
bool is_to_be_recorded(ThreadLog& log, uintptr_t cfa);

/// Whether a library of this name is the collector's own.
bool is_collectors_file(const char* name);
/// Whether a library of this name calls back into the program, or passes its requests on. The
/// collector's stand-ins do.
bool is_transparent_file(const char* name);
/// Whether the code is the collector's own.
bool is_collectors_code(uintptr_t address);

}  // namespace culprit::collector::sampling
