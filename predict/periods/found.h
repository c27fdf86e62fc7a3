// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The periods found in a series, as rows of findings.
#pragma once

#include <vector>

#include "blame/findings/findings.h"
#include "predict/periods/period.h"

namespace culprit::predict {

/// One row; or if the period changes, one for each part, in order. The last says when the next
/// phase is expected after `now_s`.
std::vector<blame::FoundPeriod> found_periods(const Series& series, const Period& period,
                                              double now_s);

}  // namespace culprit::predict
