// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Time per call path between two moments of one location, waiting left out: the vector d of the
// delay analysis. Intervals can be long (a master that meets each of its workers rarely), so sums
// over blocks of activities are kept: a query costs the logarithm of its length times the call
// paths in it.
#pragma once

#include <span>
#include <vector>

#include "replay/run.h"

namespace culprit::blame {

/// Durations by call path, few of them nonzero. Reused between queries.
/// MT: externally synchronised; one for each thread.
class PathSums {
 public:
  explicit PathSums(size_t callpaths) : sums_(callpaths) {}

  void add(CallPathId path, Duration time) {
    if (time == Duration::zero()) return;
    Duration& sum = sums_[path.index()];
    if (sum == Duration::zero()) touched_.push_back(path);
    sum += time;
  }
  Duration operator[](CallPathId path) const { return sums_[path.index()]; }
  const std::vector<CallPathId>& paths() const { return touched_; }
  void clear() {
    for (CallPathId path : touched_) sums_[path.index()] = Duration::zero();
    touched_.clear();
  }

 private:
  std::vector<Duration> sums_;
  std::vector<CallPathId> touched_;
};

/// One location's index. Built once, then read by any number of threads.
class PathTimes {
 public:
  PathTimes() = default;
  PathTimes(std::span<const replay::Activity> activities, Time end, PathSums& scratch);

  /// Adds the time without waiting of each call path within [begin, end).
  void sum(Time begin, Time end, PathSums& into) const;

 private:
  struct Entry {
    CallPathId path;
    Duration time;
  };
  struct Level {
    size_t block;               ///< activities in a block
    std::vector<size_t> first;  ///< entry of each block, and the end
    std::vector<Entry> entries;
  };
  Time end_of(size_t i) const {
    return i + 1 < activities_.size() ? activities_[i + 1].begin : end_;
  }
  void build_level(size_t block, PathSums& scratch);
  void add_one(size_t i, Time begin, Time end, PathSums& into) const;

  std::span<const replay::Activity> activities_;
  Time end_;
  std::vector<Level> levels_;  // blocks grow
};

}  // namespace culprit::blame
