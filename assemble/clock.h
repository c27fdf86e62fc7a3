// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Turns the ticks of processes into nanoseconds on one axis whose 0 is the earliest start of a
// process. All processes of a node share one straight line, so that two ranks of a node can never
// disagree about the order of their events; it is drawn through the first and the last moment that
// any of them read on both clocks. Nodes are aligned by CLOCK_REALTIME, as well as NTP keeps it.
// Assumes that ticks of one node come from one counter (an invariant TSC, or CLOCK_MONOTONIC).
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "assemble/raw_reader.h"
#include "base/losses.h"
#include "base/time.h"

namespace culprit::assemble {

class Clock {
 public:
  /// Draws the lines of the nodes on which `processes` ran.
  Clock(const std::vector<RawProcessFolder>& processes, Losses& losses);

  /// Time of `ticks` of the process with this index. Never before 0.
  Time time(size_t process, uint64_t ticks) const {
    const Line& line = lines_[line_of_[process]];
    const auto distance = static_cast<double>(static_cast<int64_t>(ticks - line.ticks));
    // Bounded, since the ticks may be garbage.
    const int64_t ns =
        line.ns + static_cast<int64_t>(std::clamp(distance * line.slope, -kForever, kForever));
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
  };
  static constexpr double kForever = 4e18;

  std::vector<Line> lines_;
  std::vector<size_t> line_of_;  ///< by process
  uint64_t origin_ = 0;
};

}  // namespace culprit::assemble
