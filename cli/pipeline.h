// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The stages after a run, one call each: raw records -> archive -> findings -> page. Each says in
// one line what it did and how long it took.
#pragma once

#include <filesystem>

#include "base/result.h"
#include "cli/experiment.h"
#include "cli/ranks.h"

namespace culprit::cli {

struct PipelineOptions {
  unsigned threads = 0;  ///< 0: all cores
  bool keep_raw = false;
  uint64_t memory = 0;                 ///< bytes that the analysis may take; 0: what is free
  replay::Transport* ranks = nullptr;  ///< that analyse together; null: there is but this one
  TaskForOthers* others = nullptr;     ///< if there are several
};

/// Makes the archive of what the collector has left.
Result<void> assemble_experiment(const std::filesystem::path& experiment,
                                 const PipelineOptions& options);

/// Makes it in the experiment `to`, and changes nothing in `from`.
Result<void> assemble_elsewhere(const std::filesystem::path& to, const std::filesystem::path& from,
                                const PipelineOptions& options);

/// Replays the experiment's trace and writes its findings; those of an earlier analysis are
/// replaced.
Result<blame::Findings> analyze_experiment(const std::filesystem::path& experiment,
                                           const PipelineOptions& options);

/// What the other ranks do while the first is in analyze_experiment. Returns the exit status.
int help_to_analyze(const PipelineOptions& options);

/// Prints the page for people on stdout.
void print_report(const blame::Findings& findings, const std::filesystem::path& experiment);

/// `path` as short as it can be said from the current folder.
std::filesystem::path for_display(const std::filesystem::path& path);

}  // namespace culprit::cli
