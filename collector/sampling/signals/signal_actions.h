// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Keeps the actions of signals that programs set apart from those that samples need.
#pragma once

namespace culprit::collector::sampling {

/// Called at load: finds the system's own functions.
void find_action_calls();

}  // namespace culprit::collector::sampling
