// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Runs whose records did not fit into their budget: a profile of all, and windows of which all
// records are there (docs/windows.md).
#pragma once

#include <cstdint>
#include <filesystem>

#include "base/result.h"
#include "blame/findings/findings.h"
#include "cli/stages.h"

namespace culprit::cli {

/// The run as its profile, its whole part and its windows show it. If archives are wanted, each
/// part becomes one. Windows of which too little is there are left out, with a warning. Error if
/// nothing was traced.
Result<blame::Findings> analyze_long_run(const std::filesystem::path& experiment,
                                         const ExperimentInfo& info, const PipelineOptions& options,
                                         assemble::RunFacts& facts);

/// One window by itself; 0 is the whole part. It is analysed each time: nothing is kept of it.
Result<blame::Findings> analyze_window(const std::filesystem::path& experiment, uint64_t number,
                                       unsigned threads);

}  // namespace culprit::cli
