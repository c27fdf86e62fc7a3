// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What culprit periods found, as one JSON object: the rows of `periods` (docs/findings-db.md).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "blame/findings/findings.h"

namespace culprit::report {

/// In one line, with `now_s`, for who follows a run; else on several.
std::string periods_json(const std::vector<blame::FoundPeriod>& periods,
                         std::optional<double> now_s = {});

}  // namespace culprit::report
