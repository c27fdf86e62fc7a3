// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Runs a command in a process of its own, because peak memory belongs to a process: what one
// measurement left behind would count for the next.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace culprit::bench {

struct Measured {
  std::string output;       ///< what it printed
  double wall_s = 0;        ///< from start to end
  double cpu_s = 0;         ///< of all its threads
  uint64_t peak_bytes = 0;  ///< resident, at most
};

/// Runs `command` (program and arguments); what it says on standard error is dropped. Nothing if it
/// fails or takes longer than the limit; then it is ended.
std::optional<Measured> run_measured(const std::vector<std::string>& command, unsigned limit_s);

}  // namespace culprit::bench
