// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// How the ranks of one job, each with a culprit of its own behind the launcher, come to write into
// one experiment folder without talking to each other: through the file system they share. The
// first to arrive makes the folder and publishes its name in a small file beside it,
// `.culprit.<hash of the job>`, which link() makes in one step or not at all; the others read it.
// With a folder named by -o the folder itself is what they meet in: its experiment.json says whose
// it is. Each rank leaves log/rank-<n>.start and log/rank-<n>.done; the last one finishes the job.
#pragma once

#include <filesystem>
#include <string>

#include "base/result.h"
#include "cli/experiment.h"
#include "cli/launcher.h"

namespace culprit::cli {

struct MeetingPlace {
  std::filesystem::path experiment;
  std::filesystem::path pointer;  ///< the published name; empty if -o named the folder
};

/// Finds or makes the job's folder. `wanted`: from -o, may be empty. `info` is written by the rank
/// that makes it. Error if `wanted` belongs to another run, or nothing can be made.
Result<MeetingPlace> meet(const Job& job, const std::filesystem::path& wanted,
                          const ExperimentInfo& info);

/// Whether `wanted` is an experiment, and another job's: then all ranks find the same.
bool is_of_another_job(const Job& job, const std::filesystem::path& wanted);

/// This rank's program has ended with `status`. True on exactly one rank, and only after all others
/// are done.
bool is_last(const Job& job, const MeetingPlace& place, int status);

/// The gravest exit status that the ranks have left.
int worst_status(const Job& job, const MeetingPlace& place);

/// Takes the published name away; the last rank does.
void part(const MeetingPlace& place);

}  // namespace culprit::cli
