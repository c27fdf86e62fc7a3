// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Which OpenMP runtimes this process has loaded. libgomp may come under another name: packages that
// bring their own copy give it one (Python's wheels: libgomp-a34b3233.so.1), and load it for
// themselves alone.
// MT: any thread; takes the loader's lock.
#pragma once

namespace culprit::collector::openmp {

/// A handle of a libgomp, the usual one first; nullptr if there is none.
void* loaded_libgomp();

/// Whether a library of this name or path is a libgomp.
bool is_libgomp(const char* path);

/// Whether a runtime with OMPT is loaded.
bool has_runtime_with_tools();

/// A function of the runtimes that were loaded for some object only, and so are not in the
/// program's search order; nullptr if none has it.
void* defined_by_loaded(const char* name);

}  // namespace culprit::collector::openmp
