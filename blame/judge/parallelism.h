// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What to change in a parallel region: idleness of the threads that wait while its code is
// executed, against the runtime's overhead in it. Little of both, much of one or of both: four
// readings, as in table 1 of the final report of the Performance Engineering Research Institute
// (Rice University, 2012). docs/efficiency.md has the thresholds.
#pragma once

#include <vector>

#include "blame/findings/findings.h"

namespace culprit::blame {

/// From this part of the time of its threads on, idleness or overhead is much.
inline constexpr double kMuchIdleness = 0.1;

Granularity advice_of(double work_s, double overhead_s, double idle_s);

/// One row for the whole run, then one for each parallel region that is in no other, the one with
/// most idleness and overhead first. Empty if no threads share teams, or if no idle time is
/// attributed to code.
std::vector<FoundParallelism> rate_parallelism(const Findings& findings);

}  // namespace culprit::blame
