// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What of a run is recorded, as the settings say it, in sentences for the report.
#pragma once

#include <string>
#include <vector>

#include "cli/launch/settings.h"

namespace culprit::cli {

/// What a reader of the result must know of it.
std::vector<std::string> sentences_of(const GivenSettings& settings);

}  // namespace culprit::cli
