// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Knowledge of MPI launchers: how to detect that one has started culprit (as one of several ranks),
// and how to find the program behind one on a command line.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace culprit::cli {

/// Reads one environment variable; "" if unset. A function, so that tests can stand in for it.
using Environment = std::function<std::string(const std::string& name)>;
std::string process_environment(const std::string& name);

/// This process as one rank of a job that a launcher has started.
struct Job {
  std::string token;  ///< the same on all ranks of the job, and of no other job that runs
  uint32_t rank = 0;
  uint32_t size = 1;
};

/// Empty if no launcher has started this process, so that it has to expect to start one itself.
std::optional<Job> detect_job(const Environment& environment);

/// Where the program's name stands in `command`, looked for behind launchers (mpirun, srun, ...),
/// their options, and helpers such as env or numactl. 0 if nothing better is found.
size_t program_index(const std::vector<std::string>& command);

/// Its base name, fit to be part of a folder's name.
std::string program_name(const std::vector<std::string>& command);

/// True if `command` starts with a launcher that may be Open MPI's.
bool starts_with_mpirun(const std::vector<std::string>& command);

}  // namespace culprit::cli
