// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The merge of the profiles of many ranks: by call path and figure the sum, the sum of squares, and
// the smallest and the largest value with their ranks. Ranks come one after another, so memory does
// not grow with their number.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "assemble/profile/path_table.h"
#include "base/flat_map.h"
#include "trace/profile.h"

namespace culprit::assemble {

/// What a rank has at a call path, on all its threads.
struct RankFigures {
  PathHash path = kNoPath;
  double time_s = 0;
  double visits = 0;
  double bytes = 0;
};

class RankSpreads {
 public:
  /// `figures`: each call path once.
  void add_rank(uint32_t rank, std::span<const RankFigures> figures);
  uint64_t ranks() const { return ranks_.size(); }
  /// Nothing for paths that no rank has.
  trace::PathSpreads of(PathHash path) const;

 private:
  struct Sums {
    trace::ProfileSpread spread;
    uint64_t leading = 0;  ///< the first of all ranks that have any, up to one that has none
  };
  struct PathSums {
    Sums time, visits, bytes;
  };
  void add(double value, uint32_t rank, Sums& to) const;
  trace::ProfileSpread settled(const Sums& sums) const;

  FlatMap places_;
  std::vector<PathSums> sums_;
  std::vector<uint32_t> ranks_;  ///< in the order of their coming
};

}  // namespace culprit::assemble
