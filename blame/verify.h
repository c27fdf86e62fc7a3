// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Full checks of each pass's guarantees to the next one: for debugging the analysis, and for tests.
// The identities of the result (identities.h) are checked on every run; these cost about as much as
// the passes themselves. Of several ranks, each looks at what is its own.
#pragma once

#include <string>
#include <vector>

#include "blame/critical_path/critical_path.h"
#include "blame/delay/delay.h"
#include "replay/model/run.h"
#include "replay/model/waits.h"

namespace culprit::blame {

// Each returns a sentence for each promise that is broken, with the first place of each kind.

/// Activities tile each location's life, in order of time, at call paths that there are.
std::vector<std::string> verify_timelines(const replay::Run& run);

/// A location's waits are sorted, do not overlap, lie in its life, are caused by other locations,
/// and their amounts do not exceed their lengths; synchronisation points are sorted, and between
/// existing locations.
std::vector<std::string> verify_waits(const replay::Run& run, const replay::WaitGraph& graph);

/// Costs are not negative, and attributed plus unattributed costs equal the waiting.
std::vector<std::string> verify_delays(const replay::Run& run, const DelayAnalysis& delays);

/// The critical path goes from the run's begin to its end without a gap.
std::vector<std::string> verify_path(const replay::Run& run, const CriticalPath& path);

}  // namespace culprit::blame
