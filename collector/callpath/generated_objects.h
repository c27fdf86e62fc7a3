// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Programs that generate code may tell debuggers what it is called: by a list of object files in
// memory, at a symbol that GDB has defined. They go into the folder of the process, since nobody
// can read them when it has ended. MT: by one thread at a time. Not in signal handlers.
#pragma once

namespace culprit::collector {

/// Copies those that are registered now to `<folder>/generated.<n>`.
void keep_generated_objects(const char* folder);

}  // namespace culprit::collector
