// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Folds the records of a run that was traced whole into its profile again, and compares it with the
// profile that the run kept: both have to be the same, byte by byte, since the same code made them
// of the same records. Blame is left out: it needs all threads, and follows the fold.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "trace/raw/profile.h"

namespace culprit::assemble {

enum class KeptProfile : uint8_t {
  none,  ///< the run kept none of this log
  same,  ///< up to where the run had come
  different,
  beyond,  ///< it has more records than the trace, which is not whole
};

struct RefoldedLog {
  uint32_t log = 0;
  uint32_t rows = 0;
  uint64_t records = 0;
  std::array<double, trace::kProfileStates> seconds = {};  ///< by state
  KeptProfile kept = KeptProfile::none;
};

struct RefoldedProcess {
  std::string name;  ///< of its folder
  int32_t rank = -1;
  std::vector<RefoldedLog> logs;
};

/// Of the experiment's processes, in order of their start. Error if it has no records.
Result<std::vector<RefoldedProcess>> refold(const std::filesystem::path& experiment,
                                            unsigned threads);

}  // namespace culprit::assemble
