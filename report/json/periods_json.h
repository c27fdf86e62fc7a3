// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The results of culprit periods as one JSON object: the rows of `periods` (docs/findings-db.md).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "blame/findings/findings.h"

namespace culprit::report {

/// Returns one line with `now_s`, for following a run; otherwise several lines.
std::string periods_json(const std::vector<blame::FoundPeriod>& periods,
                         std::optional<double> now_s = {});

}  // namespace culprit::report
