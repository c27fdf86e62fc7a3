// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Processes that end without their destructors.
#pragma once

namespace culprit::collector::sampling {

/// Called at load: finds the system's own functions that end a process at once.
void find_exit_calls();

}  // namespace culprit::collector::sampling
