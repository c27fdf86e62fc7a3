// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Who waited for the delays that cost most.
#pragma once

#include <vector>

#include "base/progress/budget.h"
#include "blame/delay/delay.h"
#include "blame/findings/findings.h"

namespace culprit::blame {

inline constexpr size_t kDelaysWithVictims = 50;

/// Of the costliest (location, call path) of all ranks those on this one: their short-term costs by
/// pattern, location and call path of the waits. Collective.
std::vector<FoundVictim> find_victims(const replay::Run& run, const replay::WaitGraph& graph,
                                      const DelayAnalysis& delays, unsigned threads,
                                      Budget& budget);

}  // namespace culprit::blame
