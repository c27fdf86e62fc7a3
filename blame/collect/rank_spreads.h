// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Rows on how figures of call paths are spread over ranks, of the call paths with the largest sums.
#pragma once

#include <vector>

#include "blame/findings/findings.h"
#include "trace/profile.h"

namespace culprit::blame {

/// Call paths of each figure that get a row.
inline constexpr size_t kMostSpreads = 256;

/// `places`: the numbers that the profile's call paths have in findings. Empty where there is one
/// rank only.
std::vector<FoundRankSpread> rank_spreads_of(const trace::Profile& profile,
                                             const std::vector<CallPathId>& places);
/// The same of findings that have all rows of their profile, without bytes.
std::vector<FoundRankSpread> rank_spreads_of(const Findings& findings);

}  // namespace culprit::blame
