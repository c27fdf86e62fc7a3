// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What programs say that signals do is kept apart from what samples need of them.
#pragma once

namespace culprit::collector::sampling {

/// At load: where the system's own calls are.
void find_action_calls();

}  // namespace culprit::collector::sampling
