// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The recorded part of a run, by the settings, in sentences for the report.
#pragma once

#include <string>
#include <vector>

#include "cli/launch/settings.h"

namespace culprit::cli {

/// Returns the sentences that a reader of the result must know.
std::vector<std::string> sentences_of(const GivenSettings& settings);

}  // namespace culprit::cli
