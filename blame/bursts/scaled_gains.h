// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// By how much shorter the whole run would be with a change of a function: each part of it was
// executed again by itself. What a change brings in windows is scaled up by their time.
#pragma once

#include <vector>

#include "blame/bursts/common_run.h"

namespace culprit::blame {

struct ScaledGains {
  std::vector<FoundFunctionGain> rows;
  std::vector<FoundEstimate> estimates;  ///< of gain_s; parts are of the run's length
};

/// Windows in which a function was not worth a try count as ones in which its change brings
/// nothing. Of several changes that is taken which brings most.
ScaledGains scale_gains(const CommonRun& run);

}  // namespace culprit::blame
