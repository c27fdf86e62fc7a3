// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Parameters of programs as users write them: "size=1000,steps=20".
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace culprit::cli {

/// A number, such as 1000, 1e6 or 0.5; none if it is anything else, or endless.
std::optional<double> parse_number(std::string_view text);

/// Error, in a sentence, where it is no list of NAME=NUMBER, or names one twice.
Result<std::map<std::string, double>> parse_parameters(std::string_view text);

/// The same for parameters to be recorded with a run: ranks and threads are refused, since culprit
/// counts them itself.
Result<std::map<std::string, double>> parse_recorded_parameters(std::string_view text);

}  // namespace culprit::cli
