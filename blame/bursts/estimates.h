// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The intervals of the costs that reports name, as rows of findings.
#pragma once

#include <vector>

#include "blame/bursts/path_strata.h"
#include "blame/bursts/scaled_waits.h"

namespace culprit::blame {

/// `joined` has the rows of `waits` already, in the same order, and the critical path.
std::vector<FoundEstimate> find_estimates(const CommonRun& run, const WaitStrata& places,
                                          const PathStrata& paths, const ScaledWaits& waits,
                                          const Findings& joined);

}  // namespace culprit::blame
