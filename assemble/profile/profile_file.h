// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Reads the profile of a process (trace/raw/profile.h) and checks it: what is returned refers only
// to what is there, in an order in which rows come after those that they refer to. The process may
// be running.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/files/guarded_path.h"
#include "trace/raw/profile.h"

namespace culprit::assemble {

/// The profile of one log. Rows that make no sense are of kind `root`, and have no figures.
struct LogProfile {
  trace::ProfileLog head = {};
  std::vector<trace::ProfileRow> rows;  ///< at least the root
  bool torn = false;       ///< the process changed it when it was copied, or when it died
  uint64_t senseless = 0;  ///< rows that were refused
};

struct FileOfProfile {
  std::vector<LogProfile> logs;  ///< in the order of the file; each log once, and never empty
  trace::ProfileBlame blame =
      {};            ///< what the idle time of all of them came to; nothing: not known
  bool cut = false;  ///< there should be more
};

/// Rows that refer to what is not there become rows of kind `root` without figures.
void check_rows(LogProfile& log);

/// None if there is no profile there, or one of another version. `start_ticks`: of the process.
std::optional<FileOfProfile> read_profile(const GuardedPath& folder, uint64_t start_ticks);

}  // namespace culprit::assemble
