// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The profile of an experiment with names: what its processes kept (trace/raw/profile.h), or what
// their records make where they kept none.
#pragma once

#include <filesystem>

#include "assemble/assemble.h"
#include "base/result.h"
#include "trace/profile.h"

namespace culprit::assemble {

struct OpenProfile {
  trace::Profile profile;
  RunFacts facts;
  Result<void> kept;  ///< as in OpenRecords
};

/// As open_records.
Result<OpenProfile> open_profile(const std::filesystem::path& experiment, unsigned threads,
                                 Keep what = Keep::names_and_facts);

/// Whether a process has left the part of its run that is traced whole: of what it records since
/// then only the profile has all.
bool is_beyond_its_trace(const std::filesystem::path& experiment);

}  // namespace culprit::assemble
