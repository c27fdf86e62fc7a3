// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Functions that are left out by name: looked up in the programs that a command line names, and
// handed to the collector as addresses (trace/raw/filter.h).
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"

namespace culprit::cli {

/// Writes a table for each instrumented program among the words of `command` into the experiment.
/// `patterns` are divided by commas. Returns how many functions are left out.
Result<size_t> exclude_functions(const std::vector<std::string>& command,
                                 const std::string& patterns,
                                 const std::filesystem::path& experiment);

}  // namespace culprit::cli
