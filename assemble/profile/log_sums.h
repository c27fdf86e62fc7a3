// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The figures of a log's profile by call path. Samples divide the time between events among the
// functions that they found, as they do for a trace (play/folding.h): stretches of a kind execute
// the same code, so they pool their samples over threads and processes; a thread with many samples
// of its own uses these. Where there should be samples and are none, the thread slept or had no
// core. All is in whole ticks, which add up to the log's.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "assemble/profile/path_table.h"
#include "assemble/profile/row_places.h"
#include "base/flat_map.h"

namespace culprit::assemble {

/// The time of one location at one call path, in ticks.
struct PathTicks {
  PathHash path = kNoPath;
  uint64_t ticks = 0;
  uint64_t waits = 0;
  uint64_t observed = 0;
  uint64_t samples = 0;
  uint64_t visits = 0;
  uint64_t bytes = 0;
  uint64_t blame = 0;       ///< in the units of a row
  uint64_t lock_blame = 0;  ///< likewise
  uint64_t longest = 0;     ///< likewise
  uint64_t system_ns = 0;
  uint64_t fault_ns = 0;  ///< part of it
  uint64_t faults = 0;
};

/// One location's profile, each path once.
class LineTicks {
 public:
  uint64_t idle = 0;    ///< outside of teams, of a pool's thread
  uint64_t waking = 0;  ///< between a fork and its begin, likewise

  PathTicks& at(PathHash path) {
    const auto fresh = static_cast<uint32_t>(sums_.size());
    const uint32_t place = places_.at(path, fresh);
    if (place == fresh) sums_.push_back({.path = path});
    return sums_[place];
  }
  bool has(PathHash path) const { return places_.find(path) != FlatMap::kNone; }
  std::vector<PathTicks>& sums() { return sums_; }
  const std::vector<PathTicks>& sums() const { return sums_; }

 private:
  FlatMap places_;
  std::vector<PathTicks> sums_;
};

/// How samples of a log are taken.
struct Sampling {
  double period_ticks = 0;    ///< 0: there are none
  double core_share = 1;      ///< of the time in which the thread could compute, that it did
  double off_core_ticks = 0;  ///< it neither had a core nor wanted one, as far as the kernel says
};

/// Stretches of one kind.
struct StretchPool {
  double ticks = 0;
  double expected = 0;        ///< samples, had the thread computed all the time
  uint64_t weight = 0;        ///< samples
  PathHash around = kNoPath;  ///< the functions that are on the stack at both ends
  std::vector<std::pair<PathHash, uint64_t>> parts;

  void add(PathHash path, uint64_t count);
  void add(const StretchPool& other);
};

/// By kind.
class StretchPools {
 public:
  double all_ticks = 0;

  StretchPool& at(uint64_t kind) {
    const auto fresh = static_cast<uint32_t>(pools_.size());
    const uint32_t place = places_.at(kind, fresh);
    if (place == fresh) pools_.emplace_back(kind, StretchPool());
    return pools_[place].second;
  }
  const StretchPool* find(uint64_t kind) const {
    const uint32_t place = places_.find(kind);
    return place == FlatMap::kNone ? nullptr : &pools_[place].second;
  }
  void merge(const StretchPools& other);

 private:
  FlatMap places_;
  std::vector<std::pair<uint64_t, StretchPool>> pools_;
};

/// A stretch whose time the samples of others of its kind divide.
struct OpenStretch {
  uint64_t kind = 0;
  uint64_t ends = 0;  ///< the kind without its length
  uint64_t ticks = 0;
  uint64_t blame = 0;
};

/// What a first walk over a log finds.
struct LogSums {
  LineTicks line;
  std::vector<OpenStretch> open;
  std::unordered_map<uint64_t, StretchPool> own;  ///< the log's samples, by ends
  double asleep_part = 1;                         ///< of the time that seems to lack samples
};

/// Regions that stand for what is no code of the program's.
struct UnknownRegions {
  RegionId not_sampled, blocked, measuring, not_recorded;
};

/// Adds the log's stretches to `pools`.
LogSums sum_log(RowPlaces& rows, const Sampling& sampling, PathTable& paths,
                const UnknownRegions& unknown, StretchPools& pools);

/// Divides what is open, once the pools have all that they will have.
void divide_open(LogSums& sums, const StretchPools& pools, const UnknownRegions& unknown,
                 PathTable& paths);

}  // namespace culprit::assemble
