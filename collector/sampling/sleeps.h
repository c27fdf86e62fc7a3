// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A thread that sleeps takes no samples (its timer counts CPU time, so that no sleep is interrupted
// by it). Calls that sleep are stood in for instead, and say afterwards how long they did.
#pragma once

namespace culprit::collector::sampling {

/// At load: where the system's own are.
void find_sleeping_calls();

}  // namespace culprit::collector::sampling
