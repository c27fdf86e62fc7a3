// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The locations that waited for the costliest delays.
#pragma once

#include <vector>

#include "base/progress/budget.h"
#include "blame/delay/delay.h"
#include "blame/findings/findings.h"

namespace culprit::blame {

inline constexpr size_t kDelaysWithVictims = 50;

/// Returns, for those of the costliest (location, call path) pairs of all ranks that are on this
/// rank, the short-term costs by pattern, location and call path of the waits. Collective.
std::vector<FoundVictim> find_victims(const replay::Run& run, const replay::WaitGraph& graph,
                                      const DelayAnalysis& delays, unsigned threads,
                                      Budget& budget);

}  // namespace culprit::blame
