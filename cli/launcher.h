// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// How to detect that an MPI launcher has started culprit, as one of several ranks.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

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

}  // namespace culprit::cli
