// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Time per call path between two moments of one location, without waiting: the vector d of the
// delay analysis. Intervals can be long (a master that rarely synchronises with each of its
// workers), so sums over blocks of activities are kept: a query costs the logarithm of its length
// times the call paths in it.
#pragma once

#include <span>
#include <vector>

#include "replay/model/waits.h"

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

/// One location's index. Built once, then read by any number of threads; refers to the run and
/// the waits.
class PathTimes {
 public:
  PathTimes() = default;
  PathTimes(const replay::Run& run, LocationId id, std::span<const replay::Wait> waits,
            PathSums& scratch);

  /// Adds the time without waiting of each call path within [begin, end).
  void sum(Time begin, Time end, PathSums& into) const;
  /// The same if the caller knows the activity right before or after `end` (`last`), and the first
  /// wait that begins at `end` or later (`wait`).
  void sum_back(Time begin, Time end, size_t last, size_t wait, PathSums& into) const;

 private:
  struct Entry {
    Duration time;
    CallPathId path;
  };
  /// Sums over `block` activities each.
  struct Level {
    size_t block;
    Column<uint32_t> first;  ///< of each block, and one more: into entries
    Column<Entry> entries;
  };

  void mark_waits();
  void build_level(size_t block, PathSums& scratch);
  void add_whole(size_t i, size_t& wait, PathSums& into) const {
    if (holds_wait_[i]) return add_cut(i, activities_->begin(i), activities_->end(i), wait, into);
    into.add(activities_->path(i), activities_->end(i) - activities_->begin(i));
  }
  void add_cut(size_t i, Time begin, Time end, size_t& wait, PathSums& into) const;
  void add_run_back(size_t begin, size_t i, size_t& wait, PathSums& into) const;
  size_t first_wait_from(Time time, size_t wait) const;

  const replay::Run* run_ = nullptr;
  const replay::Activities* activities_ = nullptr;
  std::span<const replay::Wait> waits_;
  std::vector<bool> holds_wait_;  ///< by activity
  std::vector<Level> levels_;
};

}  // namespace culprit::blame
