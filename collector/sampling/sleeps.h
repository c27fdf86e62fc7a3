// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A sleeping thread takes no samples (its timer counts CPU time, so that no sleep is interrupted by
// it). Calls that sleep have stand-ins instead, which record afterwards how long they took.
#pragma once

namespace culprit::collector::sampling {

/// Called at load: finds the system's own functions.
void find_sleeping_calls();

}  // namespace culprit::collector::sampling
