// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The experiment folder, in which everything about one run lies:
//   experiment.json   what culprit knows beside the trace; "measured" in it belongs to assemble/
//   raw/              the collector's records
//   names             what their addresses are called (assemble/names/kept_names.h)
//   trace/            an OTF2 archive, if one was asked for
//   findings.db       what the analysis found
//   log/              marks of ranks that measured behind a launcher
// A folder is made exclusively, so that no run ever writes into another's.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "assemble/assemble.h"
#include "base/result.h"
#include "blame/findings/findings.h"

namespace culprit::cli {

struct ExperimentInfo {
  std::string command;  ///< as given to culprit
  std::string program;
  std::string date;       ///< ISO 8601, local time
  std::string job;        ///< token of the launcher's job, behind a launcher
  std::string operation;  ///< by which it was made of other experiments: "diff"; empty: of none
  /// The trace of this experiment, if it lies elsewhere: the anchor of an OTF2 archive, or the
  /// folder of records of another experiment.
  std::string trace;
  std::vector<std::string> traces;  ///< of several ranks, a file each; the first is `trace`
  int exit_status = 0;
  /// CPU time of all processes that the command started and waited for; < 0: unknown.
  double user_s = -1, system_s = -1;
  uint64_t page_faults = 0;
  std::vector<std::string> selected;         ///< sentences: what was not recorded, on request
  std::map<std::string, double> parameters;  ///< of the program, as the user named them
};

std::filesystem::path info_file(const std::filesystem::path& experiment);
std::filesystem::path findings_file(const std::filesystem::path& experiment);
/// Returns the trace to replay: a folder of records, or the anchor of an OTF2 archive; the
/// experiment's own, or the foreign one that it refers to.
std::filesystem::path trace_of(const std::filesystem::path& experiment, const ExperimentInfo& info);

/// Error if `wanted` is given and exists already: to be checked before anything is read.
Result<void> check_new(const std::filesystem::path& wanted);

/// Makes `wanted`, or if that is empty the folder culprit.<name>.<time>[-n] under the current one.
/// Absolute. Error if `wanted` exists or nothing can be made there.
Result<std::filesystem::path> create_experiment(const std::filesystem::path& wanted,
                                                const std::string& name);

/// Writes experiment.json atomically; keys that other stages have put there stay.
Result<void> write_info(const std::filesystem::path& experiment, const ExperimentInfo& info);

/// Error if `experiment` is not an experiment folder.
Result<ExperimentInfo> read_info(const std::filesystem::path& experiment);

/// The experiments in a folder, the newest first: the beginning of the measurement decides.
std::vector<std::pair<std::filesystem::path, ExperimentInfo>> experiments_in(
    const std::filesystem::path& folder);

/// The newest run; where there is none, the newest of what was made of runs. Error: there is none
/// of either.
Result<std::filesystem::path> newest_experiment(const std::filesystem::path& folder);

/// Adds to `findings` the facts that only the measurement has: command, libraries, overhead, notes.
/// Its losses are already in the analysis (open_trace).
void merge_facts(const assemble::RunFacts& facts, const ExperimentInfo& info,
                 blame::Findings& findings);

/// True if the collector left anything under raw/.
bool has_raw_records(const std::filesystem::path& experiment);

/// Now, as in folder names ("20261121-094500") and as ISO 8601.
std::string time_for_names();
std::string time_for_people();

/// `path` as short as it can be said from the current folder.
std::filesystem::path for_display(const std::filesystem::path& path);

}  // namespace culprit::cli
