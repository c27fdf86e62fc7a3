// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Locks of files: records of waits for one, and of releases that let others go on. Closing a
// descriptor releases its locks as well, and so does the end of the process (descriptors.h).
#pragma once

namespace culprit::collector::sampling {

/// Called at load: finds the system's own functions.
void find_lock_calls();

}  // namespace culprit::collector::sampling
