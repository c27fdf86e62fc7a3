// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The stages after a run, one call each: records or archive -> findings -> page. Each says in one
// line what it did and how long it took.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "assemble/assemble.h"
#include "base/result.h"
#include "blame/passes.h"
#include "cli/experiment.h"
#include "cli/ranks.h"
#include "cli/stages.h"
#include "trace/source.h"

namespace culprit::cli {

/// From now on analyses take the user's list of wrapper functions from `file`, if that is not
/// empty, instead of the file that the variable names. Error if there is no such list.
Result<void> take_wrappers(const std::string& file);

/// From now on analyses ask servers of debug information for that many seconds, if `seconds` is not
/// empty, instead of as long as the variable says.
void take_debuginfod(const std::string& seconds);

/// The opened trace to replay.
struct OpenTrace {
  std::unique_ptr<trace::Source> source;
  assemble::RunFacts facts;  ///< of the measurement; of foreign archives there are none
};

/// Opens the trace of an experiment: its records, its archive, or what it refers to. Names and
/// facts of records are stored with them if possible. `losses` also gets those of the facts: later
/// stages depend on whether the run came to its end. Several `ranks` open records together.
Result<OpenTrace> open_trace(const std::filesystem::path& experiment, const ExperimentInfo& info,
                             unsigned threads, Losses& losses, Transport* ranks = nullptr);

/// Stores in the experiment the facts that cannot be determined later, and writes the archive if it
/// is wanted.
Result<void> complete_experiment(const std::filesystem::path& experiment,
                                 const PipelineOptions& options);

struct Analysis {
  blame::Findings findings;
  Result<void> saved;  ///< whether the experiment has them now; on a full disk it may not
};

/// Replays the experiment's trace and writes its findings; those of an earlier analysis are
/// replaced.
Result<Analysis> analyze_experiment(const std::filesystem::path& experiment,
                                    const PipelineOptions& options);

/// The part of the other ranks while the first is in analyze_experiment. Returns the exit status.
int help_to_analyze(const PipelineOptions& options);

/// Prints the page for people on stdout, its first screen or all of it. `experiment` is where the
/// findings lie; empty: nowhere. False if that failed.
[[nodiscard]] bool print_report(const blame::Findings& findings,
                                const std::filesystem::path& experiment, bool full);

}  // namespace culprit::cli
