// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// All lists but waits and delays, of the whole run. What the profile has is exact and stays; of all
// else, a row of a window stands for as much as the time of its call path does.
#pragma once

#include "blame/bursts/common_run.h"
#include "blame/bursts/path_strata.h"
#include "blame/bursts/wait_strata.h"

namespace culprit::blame {

void add_other_rows(const CommonRun& run, const WaitStrata& places, const PathStrata& paths,
                    Findings& joined);

}  // namespace culprit::blame
