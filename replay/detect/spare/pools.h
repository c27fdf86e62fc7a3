// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// How many threads a pool needs, and which of its sleeps are waits for the work that it needs them
// for. A pool is what one thread made to run the same function.
#pragma once

#include <span>
#include <vector>

#include "replay/detect/spare/sleeps.h"

namespace culprit::replay {

/// As many threads of a pool are needed as are awake together for this part of the time in which it
/// has work: of more than that, the work was never worth it.
inline constexpr double kConsiderable = 0.1;

/// Settles Sleep::needed for the members of one pool, as far as its own work tells.
void find_needed(std::span<Sleeper* const> pool);

}  // namespace culprit::replay
