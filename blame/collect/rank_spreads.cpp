// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A profile comes with its spreads, which have all rows; other findings are sorted by call path and
// rank, and each run of rows is one call path. Ranks that have nothing of it count with 0.
#include "blame/collect/rank_spreads.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <utility>

namespace culprit::blame {

namespace {

using trace::PathSpreads;
using trace::ProfileSpread;

FoundRankSpread row_of(CallPathId path, SpreadFigure figure, const ProfileSpread& spread,
                       uint64_t ranks) {
  const auto n = static_cast<double>(ranks);
  const double mean = spread.sum / n;
  return {.callpath = path,
          .figure = figure,
          .ranks = spread.ranks,
          .sum = spread.sum,
          .deviation = std::sqrt(std::max(0.0, spread.squares / n - mean * mean)),
          .least = spread.least,
          .least_rank = spread.least_rank,
          .most = spread.most,
          .most_rank = spread.most_rank};
}

/// The largest sums of each figure. `place`: the number of a call path in findings.
template <class Place>
std::vector<FoundRankSpread> rows_of(const std::vector<PathSpreads>& spreads, uint64_t ranks,
                                     const Place& place) {
  std::vector<FoundRankSpread> rows;
  if (ranks < 2) return rows;
  const auto add = [&](SpreadFigure figure, ProfileSpread PathSpreads::* which) {
    const auto begin = static_cast<std::ptrdiff_t>(rows.size());
    for (size_t p = 0; p < spreads.size(); ++p) {
      const ProfileSpread& spread = spreads[p].*which;
      if (spread.sum > 0) rows.push_back(row_of(place(p), figure, spread, ranks));
    }
    std::stable_sort(
        rows.begin() + begin, rows.end(),
        [](const FoundRankSpread& a, const FoundRankSpread& b) { return a.sum > b.sum; });
    rows.resize(std::min(rows.size(), static_cast<size_t>(begin) + kMostSpreads));
  };
  add(SpreadFigure::time, &PathSpreads::time);
  add(SpreadFigure::visits, &PathSpreads::visits);
  add(SpreadFigure::bytes, &PathSpreads::bytes);
  return rows;
}

/// What a rank has at a call path, on any of its threads.
struct OfRank {
  CallPathId path;
  uint32_t rank = 0;
  double time_s = 0;
  double visits = 0;
};

/// Spreads a figure of one call path. `rows`: one for each rank that has been there, by rank.
ProfileSpread spread_over(const std::vector<uint32_t>& ranks, std::span<const OfRank> rows,
                          double OfRank::* figure) {
  ProfileSpread spread;
  uint64_t leading = 0;  // ranks up to the first that has none
  for (const OfRank& row : rows) {
    const double value = row.*figure;
    if (value <= 0) continue;
    if (spread.ranks == leading && ranks[leading] == row.rank) ++leading;
    const bool first = spread.ranks++ == 0;
    spread.sum += value;
    spread.squares += value * value;
    if (first || value < spread.least) spread.least = value, spread.least_rank = row.rank;
    if (first || value > spread.most) spread.most = value, spread.most_rank = row.rank;
  }
  if (leading < ranks.size()) spread.least = 0, spread.least_rank = ranks[leading];
  return spread;
}

/// By call path and rank.
std::vector<OfRank> sums_by_rank(const Findings& findings) {
  std::vector<OfRank> rows;
  for (const FoundProfile& row : findings.profile) {
    rows.push_back({row.callpath, findings.locations[row.location.index()].rank, row.time_s,
                    static_cast<double>(row.visits)});
  }
  const auto key = [](const OfRank& row) { return std::pair(row.path, row.rank); };
  std::sort(rows.begin(), rows.end(),
            [&](const OfRank& a, const OfRank& b) { return key(a) < key(b); });
  std::vector<OfRank> sums;
  for (const OfRank& row : rows) {
    if (sums.empty() || key(sums.back()) != key(row)) {
      sums.push_back(row);
    } else {
      sums.back().time_s += row.time_s;
      sums.back().visits += row.visits;
    }
  }
  return sums;
}

std::vector<uint32_t> ranks_of(const Findings& findings) {
  std::vector<uint32_t> ranks;
  for (const FoundLocation& row : findings.locations) ranks.push_back(row.rank);
  std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  return ranks;
}

}  // namespace

std::vector<FoundRankSpread> rank_spreads_of(const trace::Profile& profile,
                                             const std::vector<CallPathId>& places) {
  return rows_of(profile.spreads, profile.ranks, [&](size_t p) { return places[p]; });
}

std::vector<FoundRankSpread> rank_spreads_of(const Findings& findings) {
  const std::vector<uint32_t> ranks = ranks_of(findings);
  if (ranks.size() < 2) return {};
  const std::vector<OfRank> rows = sums_by_rank(findings);
  std::vector<PathSpreads> spreads(findings.callpaths.size());
  for (auto begin = rows.begin(); begin != rows.end();) {
    const CallPathId path = begin->path;
    const auto end =
        std::find_if(begin, rows.end(), [&](const OfRank& row) { return row.path != path; });
    spreads[path.index()].time = spread_over(ranks, {begin, end}, &OfRank::time_s);
    spreads[path.index()].visits = spread_over(ranks, {begin, end}, &OfRank::visits);
    begin = end;
  }
  return rows_of(spreads, ranks.size(), [](size_t p) { return CallPathId(p); });
}

}  // namespace culprit::blame
