// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "assemble/profile/rank_spreads.h"

namespace culprit::assemble {

void RankSpreads::add(double value, uint32_t rank, Sums& to) const {
  if (value <= 0) return;
  trace::ProfileSpread& all = to.spread;
  to.leading += to.leading == ranks_.size();
  if (all.ranks == 0 || value < all.least) all.least = value, all.least_rank = rank;
  if (value > all.most) all.most = value, all.most_rank = rank;
  ++all.ranks;
  all.sum += value;
  all.squares += value * value;
}

void RankSpreads::add_rank(uint32_t rank, std::span<const RankFigures> figures) {
  for (const RankFigures& one : figures) {
    const auto fresh = static_cast<uint32_t>(sums_.size());
    const uint32_t place = places_.at(one.path, fresh);
    if (place == fresh) sums_.emplace_back();
    PathSums& sums = sums_[place];
    add(one.time_s, rank, sums.time);
    add(one.visits, rank, sums.visits);
    add(one.bytes, rank, sums.bytes);
  }
  ranks_.push_back(rank);
}

/// Ranks that have none have the least.
trace::ProfileSpread RankSpreads::settled(const Sums& sums) const {
  trace::ProfileSpread spread = sums.spread;
  if (spread.ranks == 0 || sums.leading == ranks_.size()) return spread;
  spread.least = 0;
  spread.least_rank = ranks_[sums.leading];
  return spread;
}

trace::PathSpreads RankSpreads::of(PathHash path) const {
  const uint32_t place = places_.find(path);
  if (place == FlatMap::kNone) return {};
  const PathSums& sums = sums_[place];
  return {settled(sums.time), settled(sums.visits), settled(sums.bytes)};
}

}  // namespace culprit::assemble
