// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Each list of findings with a call path and a location is read once.
#include "report/table/groups.h"

#include <algorithm>
#include <cmath>

namespace culprit::report {

std::map<std::string, GroupSums> sum_groups(const blame::Findings& findings, const GroupOf& group) {
  std::map<std::string, GroupSums> groups;
  const auto at = [&](CallPathId path, LocationId location) -> GroupSums* {
    const std::optional<std::string> name = group(path, location);
    return name ? &groups[*name] : nullptr;
  };
  for (const blame::FoundProfile& row : findings.profile) {
    GroupSums* const sums = at(row.callpath, row.location);
    if (sums == nullptr) continue;
    sums->visits += row.visits;
    sums->time_s += row.time_s;
    sums->by_rank[findings.locations[row.location.index()].rank] += row.time_s;
  }
  for (const blame::FoundWait& row : findings.waits) {
    if (GroupSums* const sums = at(row.callpath, row.location)) sums->waiting_s += row.time_s;
  }
  for (const blame::FoundDelay& row : findings.delays) {
    if (GroupSums* const sums = at(row.callpath, row.location)) {
      sums->caused_s += row.short_s + row.long_s;
    }
  }
  for (const blame::FoundCriticalPath& row : findings.critical_path) {
    if (GroupSums* const sums = at(row.callpath, row.location)) sums->critical_s += row.time_s;
  }
  return groups;
}

std::optional<RankSpread> spread_over(const std::map<uint32_t, double>& by_rank, size_t ranks) {
  if (ranks < 2 || by_rank.empty()) return std::nullopt;
  RankSpread spread;
  double sum = 0, squares = 0;
  for (const auto& [rank, time_s] : by_rank) {
    if (time_s > spread.largest_s) spread.largest_s = time_s, spread.largest_rank = rank;
    sum += time_s;
    squares += time_s * time_s;
  }
  const auto n = static_cast<double>(ranks);
  const double mean = sum / n;
  if (mean <= 0) return std::nullopt;
  spread.variation = std::sqrt(std::max(squares / n - mean * mean, 0.0)) / mean;
  return spread;
}

}  // namespace culprit::report
