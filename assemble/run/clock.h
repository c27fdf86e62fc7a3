// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Turns the ticks of processes into nanoseconds on one axis whose 0 is the earliest start of a
// process. All processes of a node share one straight line, so that two ranks of a node can never
// disagree about the order of their events; it is drawn through the first and the last moment that
// any of them read on both clocks. Where nodes have compared their clocks, the compared one's line
// is drawn through these meetings instead, on the axis of the node that asked; other nodes are
// aligned by CLOCK_REALTIME, as well as NTP keeps it.
// Assumes that ticks of one node come from one counter (an invariant TSC, or CLOCK_MONOTONIC).
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "assemble/raw/reader.h"
#include "base/losses.h"
#include "base/time.h"

namespace culprit::assemble {

/// Two processes compared their clocks: indices of their folders, and RawKind::clock_met.
struct ClockLink {
  size_t process = 0;
  size_t other = 0;
  uint64_t ticks = 0;
  uint64_t other_ticks = 0;
  uint64_t length = 0;
};

/// How well the nodes' clocks are known to agree.
struct ClockQuality {
  size_t nodes = 0;
  size_t met_once = 0;   ///< compared at the start only
  size_t unrelated = 0;  ///< never compared with the node that asked: aligned by the date
  double error_ns = 0;   ///< at most, where they were compared
};

class Clock {
 public:
  /// Draws the lines of the nodes on which `processes` ran.
  Clock(const std::vector<RawProcessFolder>& processes, const std::vector<ClockLink>& links,
        Losses& losses);

  const ClockQuality& quality() const { return quality_; }

  /// Time of `ticks` of the process with this index. Never before 0.
  Time time(size_t process, uint64_t ticks) const {
    const int64_t ns = lines_[line_of_[process]].at(ticks);
    return Time::from_nanos(ns < 0 ? 0 : ns);
  }

  double ns_per_tick(size_t process) const { return lines_[line_of_[process]].slope; }

  /// CLOCK_REALTIME at time 0.
  uint64_t origin_realtime_ns() const { return origin_; }

 private:
  struct Line {
    uint64_t ticks = 0;  ///< where `ns` is known
    int64_t ns = 0;      ///< since the origin
    double slope = 1;    ///< ns a tick

    int64_t at(uint64_t t) const {
      const auto distance = static_cast<double>(static_cast<int64_t>(t - ticks));
      // Bounded, since the ticks may be garbage.
      return ns + static_cast<int64_t>(std::clamp(distance * slope, -kForever, kForever));
    }
  };
  static constexpr double kForever = 4e18;

  void align(const std::vector<ClockLink>& links);
  bool align_one(const std::vector<ClockLink>& links, size_t node);

  std::vector<Line> lines_;
  std::vector<size_t> line_of_;  ///< by process
  std::vector<double> error_;    ///< by line, ns; < 0: not related to the node that asked
  ClockQuality quality_;
  uint64_t origin_ = 0;
};

}  // namespace culprit::assemble
