// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The longest single waits of each pattern: where and when to look in a timeline.
#pragma once

#include <vector>

#include "base/progress/budget.h"
#include "blame/delay/delay.h"
#include "blame/findings/findings.h"

namespace culprit::blame {

inline constexpr size_t kWorstInstances = 5;  ///< of each pattern

/// Returns those of all ranks, by pattern in the table's order, the longest first; of equal ones
/// the earlier, then the lower location. Collective.
std::vector<FoundInstance> worst_instances(const replay::Run& run, const replay::WaitGraph& graph,
                                           const DelayAnalysis& delays, unsigned threads,
                                           Budget& budget);

}  // namespace culprit::blame
