// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A thread's share of a core as a time series. The kernel's counters are read now and then: between
// two readings a thread that computes is assumed to have lacked a core evenly. Where it is known
// how long it slept but not when, that part of its time counts as sleep everywhere.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "base/time.h"

namespace culprit::assemble {

/// What it had until then, since it began.
struct CorePoint {
  Time time;
  double on_core_ns = 0;
  double without_ns = 0;
};

/// In order of time. MT: one reader, since it remembers where it was.
class CoreTimeSeries {
 public:
  CoreTimeSeries() = default;
  /// `awake`: which part of the time that is not known to be sleep it was awake.
  CoreTimeSeries(std::vector<CorePoint> points, double awake)
      : points_(std::move(points)), awake_(awake) {}

  bool empty() const { return points_.size() < 2; }

  /// The time without a core from `begin` to `end`, in which the thread did not sleep. To be called
  /// in order of time.
  Duration without(Time begin, Time end) {
    double sum = 0;
    while (at_ + 2 < points_.size() && points_[at_ + 1].time <= begin) ++at_;
    for (size_t i = at_; i + 1 < points_.size() && begin < end; ++i) {
      const bool is_last = i + 2 == points_.size();
      const Time until = is_last ? end : std::min(end, points_[i + 1].time);
      if (until <= begin) continue;
      sum += share(i) * static_cast<double>((until - begin).nanos());
      begin = until;
    }
    return Duration::from_nanos(static_cast<int64_t>(sum));
  }

 private:
  double share(size_t i) const {
    const double without = points_[i + 1].without_ns - points_[i].without_ns;
    const double could = without + points_[i + 1].on_core_ns - points_[i].on_core_ns;
    return could > 0 ? awake_ * std::clamp(without / could, 0.0, 1.0) : 0;
  }

  std::vector<CorePoint> points_;
  double awake_ = 1;
  size_t at_ = 0;
};

}  // namespace culprit::assemble
