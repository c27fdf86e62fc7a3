// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What opening an experiment's records and opening its profile have in common.
#pragma once

#include <filesystem>

#include "assemble/prepare_run.h"
#include "base/files/guarded_path.h"
#include "base/result.h"

namespace culprit::assemble {

GuardedPath records_of(const std::filesystem::path& experiment);

/// As the user's settings say. Error if there is no list of wrappers where they say so.
Result<PassOptions> options_for(const std::filesystem::path& experiment, unsigned threads);

/// The facts that the experiment has, or, if it has none of these records, those of the run, which
/// are then kept there if that is `wanted`. `kept`: whether that was possible.
RunFacts settle_facts(const std::filesystem::path& experiment, const RecordedRun& run, bool wanted,
                      Result<void>& kept);

/// Adds the names of the run's code to those that the experiment keeps: a part of a run meets other
/// places than the part whose facts these are.
Result<void> keep_names(const std::filesystem::path& experiment, const RecordedRun& run);

}  // namespace culprit::assemble
