// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The time of each phase and iteration that the program named, and how much of it was waiting.
#pragma once

#include <vector>

#include "base/progress/budget.h"
#include "blame/findings/findings.h"
#include "replay/model/waits.h"

namespace culprit::blame {

/// Also how well its processes used it: efficiency.h's load balance and communication with
/// useful time in place of that outside of MPI, so that mean useful time a thread / longest time of
/// a process in the stage is the product of both. Of all ranks; collective.
std::vector<FoundStage> collect_stages(const replay::Run& run, const replay::WaitGraph& graph,
                                       unsigned threads, Budget& budget);

}  // namespace culprit::blame
