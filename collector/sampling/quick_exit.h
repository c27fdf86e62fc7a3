// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Processes that end without their destructors.
#pragma once

namespace culprit::collector::sampling {

/// At load: where the system's own functions are that end a process at once.
void find_exit_calls();

}  // namespace culprit::collector::sampling
