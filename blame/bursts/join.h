// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The findings of a run that was traced in windows, from those of its parts: the profile has what
// is known of all of the run, the part that was traced whole has the rest for the time from the
// start, and windows behind it stand for what is between them. Costs come with intervals (table
// `estimates`; estimate.h says how), and `coverage` and `windows` say what they rest on.
#pragma once

#include "blame/bursts/burst_run.h"

namespace culprit::blame {

/// Locations are the same if they have the same names, call paths if they have the same regions.
Findings join_bursts(BurstRun run, unsigned threads);

}  // namespace culprit::blame
