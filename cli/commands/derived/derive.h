// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Experiments derived from others: findings without a trace, which report, view and export accept
// like any other.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "blame/findings/findings.h"

namespace culprit::cli {

/// Findings of several experiments, in order; of long runs those of a window if one is named. Error
/// for the first that has none.
Result<std::vector<blame::Findings>> open_all(const std::vector<std::filesystem::path>& inputs,
                                              std::optional<uint64_t> window = {});

/// Error if one of these is a difference of runs: sums with others, or parts of it, mean nothing.
Result<void> refuse_differences(const std::vector<std::filesystem::path>& inputs,
                                const std::vector<blame::Findings>& findings);

/// Makes the experiment `output`, or culprit.<operation>.<time>, and says where it is. `inputs` are
/// those that the findings do not name yet. Returns the exit status.
int keep_derived(blame::Findings findings, blame::Operation operation,
                 const std::vector<std::filesystem::path>& inputs,
                 const std::filesystem::path& output);

}  // namespace culprit::cli
