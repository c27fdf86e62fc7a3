// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Sums of findings over groups of locations or call paths, and the spread of their time over ranks.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "blame/findings/findings.h"

namespace culprit::report {

struct GroupSums {
  uint64_t visits = 0;
  double time_s = 0;                   ///< allocated, with waiting
  double waiting_s = 0;                ///< part of time_s
  double caused_s = 0;                 ///< waiting that its delays cost, on any location
  double critical_s = 0;               ///< on the critical path
  std::map<uint32_t, double> by_rank;  ///< time_s
};

/// A row's group by its call path and location; nothing: it belongs to none.
using GroupOf = std::function<std::optional<std::string>(CallPathId, LocationId)>;

std::map<std::string, GroupSums> sum_groups(const blame::Findings& findings, const GroupOf& group);

struct RankSpread {
  uint32_t largest_rank = 0;
  double largest_s = 0;
  /// Standard deviation divided by mean, over all ranks: a rank without any time counts with 0.
  double variation = 0;
};
/// Nothing in runs of one rank.
std::optional<RankSpread> spread_over(const std::map<uint32_t, double>& by_rank, size_t ranks);

}  // namespace culprit::report
