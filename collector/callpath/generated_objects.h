// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Programs that generate code may publish its names to debuggers: by a list of object files in
// memory, at a symbol that GDB has defined. These objects are copied into the folder of the
// process, since they are gone once it has ended. MT: by one thread at a time. Not in signal
// handlers.
#pragma once

namespace culprit::collector {

/// Copies the objects that are registered now to `<folder>/generated.<n>`.
void keep_generated_objects(const char* folder);

}  // namespace culprit::collector
