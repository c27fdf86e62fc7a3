// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// How often samples found each line of source. A sample in a library counts for the line of the
// program that called it.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "assemble/play/code.h"
#include "assemble/run/accounts.h"
#include "assemble/run/sampled_stacks.h"
#include "assemble/run_facts.h"
#include "base/ids.h"
#include "trace/definitions.h"

namespace culprit::assemble {

struct SourceLine {
  RegionId function;  ///< none: a construct's own code
  std::string file;   ///< base name
  uint32_t line = 0;
  auto operator<=>(const SourceLine&) const = default;
};

struct LineCounts {
  uint64_t samples = 0;       ///< found there, or in code of others that it calls
  uint64_t with_callees = 0;  ///< likewise, or in functions of the program that it calls
};

using LinesOfCode = std::map<SourceLine, LineCounts>;

/// Of one process.
LinesOfCode count_lines(const ProcessCode& code, const SampledStacks& stacks);

/// By line of a function: samples found there, or in functions that it calls.
using SampledLines = std::map<SourceLine, uint64_t>;

/// Over all processes. `code`, `accounts`: by process.
SampledLines count_lines(std::span<const ProcessCode> code,
                         std::span<const ProcessAccount> accounts, unsigned threads);

/// The costliest lines of each function of the program that was sampled often enough; the functions
/// with most samples first. `regions`: by RegionId.
std::vector<CostlyLine> costliest_lines(const SampledLines& lines,
                                        const std::vector<trace::Region>& regions);

}  // namespace culprit::assemble
