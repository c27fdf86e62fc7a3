// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The profiles of a run's processes as one with names (trace/profile.h). They are read twice: for
// the addresses that need names, and once these are known. Only some processes' rows are in memory
// at a time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "assemble/play/code.h"
#include "assemble/play/regions.h"
#include "assemble/raw/reader.h"
#include "assemble/run/clock.h"
#include "assemble/run/lanes.h"
#include "assemble/run/sampled_stacks.h"
#include "trace/profile.h"

namespace culprit::assemble {

/// What is missing in profiles, or makes no sense.
struct ProfileDamage {
  uint64_t cut = 0;        ///< files that should be longer
  uint64_t torn = 0;       ///< threads that changed their rows when the process died
  uint64_t senseless = 0;  ///< rows
  uint64_t no_room = 0;    ///< rows that there was no room for
};
std::vector<std::string> sentences_of(const ProfileDamage& damage);

/// The code in one process's profile.
struct ProfiledCode {
  std::vector<uint64_t> addresses;  ///< without repetition
  SampledStacks stacks;
};
/// By folder.
std::vector<ProfiledCode> profiled_code(const std::vector<RawProcessFolder>& folders,
                                        ProfileDamage& damage, unsigned threads);

/// The processes with what those addresses mean, on one clock.
struct ProfiledRun {
  const std::vector<RawProcessFolder>& folders;
  const std::vector<Lane>& lanes;
  const std::vector<ProcessCode>& code;  ///< by folder
  const Clock& clock;
  Regions& regions;
};

/// Rows that all locations have together, at most: where there would be more, those with little
/// time are joined to their callers'.
inline constexpr size_t kMostProfileRows = 1'000'000;

/// All but the definitions, to whose regions it adds.
trace::Profile name_profile(const ProfiledRun& run, unsigned threads,
                            size_t most_rows = kMostProfileRows);

}  // namespace culprit::assemble
