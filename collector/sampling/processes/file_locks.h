// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Locks of files: who waits for one, and who gives one back and so lets others go on. Closing a
// descriptor gives back as well, and so does the end of the process (descriptors.h).
#pragma once

namespace culprit::collector::sampling {

/// At load: where the system's own are.
void find_lock_calls();

}  // namespace culprit::collector::sampling
