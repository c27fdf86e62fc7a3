// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Where in the source samples found the threads of a run: its records hold the address of each
// frame, of which findings keep the function alone.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"

namespace culprit::assemble {

/// A line of source, in a function that findings name, on one rank.
struct SampledLine {
  uint32_t rank = 0;
  std::string function;  ///< as the region is called; of a construct's own code, "": its function
  std::string file;      ///< base name
  uint32_t line = 0;
  uint64_t samples = 0;       ///< found there, or in code of others that it calls
  uint64_t with_callees = 0;  ///< likewise, or in functions of the program that it calls
};

/// All lines that were sampled, by rank, file and line. Reads the run's records on `threads`
/// threads (0: all cores). Error if there are none.
Result<std::vector<SampledLine>> sampled_lines(const std::filesystem::path& experiment,
                                               unsigned threads);

}  // namespace culprit::assemble
