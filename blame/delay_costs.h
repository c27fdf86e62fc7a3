// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What the delays of one location cost, once all waits have been propagated.
#pragma once

#include <array>
#include <vector>

#include "blame/delay.h"

namespace culprit::blame {

using PatternSums = std::array<double, replay::kPatterns.size()>;

/// Costs by call path and pattern of the waits, first come. `lost` gets, by pattern, the waiting
/// that nobody is answerable for.
std::vector<DelayCost> sum_delay_costs(const replay::Run& run, const replay::WaitGraph& graph,
                                       const DelayAnalysis& delays, LocationId late,
                                       PatternSums& lost);

}  // namespace culprit::blame
