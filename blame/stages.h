// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What each phase and iteration that the program named took, and how much of it was waiting.
#pragma once

#include <vector>

#include "blame/findings.h"
#include "replay/waits.h"

namespace culprit::blame {

std::vector<FoundStage> collect_stages(const replay::Run& run, const replay::WaitGraph& graph);

}  // namespace culprit::blame
