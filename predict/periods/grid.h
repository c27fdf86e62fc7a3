// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The steps of a series between two moments, and the sums in each step. Sums are whole nanoseconds
// and bytes, so that they do not depend on the order of adding.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "base/time.h"
#include "blame/profile/equal_parts.h"
#include "predict/periods/series.h"

namespace culprit::predict {

class Grid {
 public:
  Grid(Time begin, Time end, size_t steps)
      : begin_(begin), end_(end), parts_(begin, end - begin, steps) {}

  size_t steps() const { return parts_.count(); }
  double step_s() const { return (end_ - begin_).seconds() / static_cast<double>(steps()); }
  Time end() const { return end_; }

  /// Adds the time of a location from `since` to `until`.
  void add_time(Time since, Time until, std::vector<int64_t>& into) const {
    parts_.split(std::max(since, begin_), std::min(until, end_),
                 [&](size_t step, Duration time) { into[step] += time.nanos(); });
  }

  /// Adds this grid's part of an amount that is spread evenly from `since` to `until`.
  void add_amount(Time since, Time until, uint64_t amount, std::vector<int64_t>& into) const {
    if (until <= since) until = since + Duration::from_nanos(1);
    const double length = static_cast<double>((until - since).nanos());
    Time at = std::max(since, begin_);
    const auto moved = [&](Time time) {
      const double share = static_cast<double>((time - since).nanos()) / length;
      return static_cast<int64_t>(std::llround(static_cast<double>(amount) * share));
    };
    parts_.split(at, std::min(until, end_), [&](size_t step, Duration time) {
      into[step] += moved(at + time) - moved(at);
      at = at + time;
    });
  }

  /// Sums as the values of a series: per second, `unit` of them being one.
  Series series(blame::SeriesKind kind, const std::vector<int64_t>& sums, double unit,
                double begin_s) const {
    Series made;
    made.kind = kind;
    made.source = blame::SeriesSource::trace;
    made.begin_s = begin_s;
    made.step_s = step_s();
    made.values.reserve(sums.size());
    for (const int64_t sum : sums)
      made.values.push_back(static_cast<double>(sum) / unit / made.step_s);
    return made;
  }

 private:
  Time begin_, end_;
  blame::EqualParts parts_;
};

/// Makes the grid of the selected part of a run: four steps for each of the `visits` of regions on
/// one location, within bounds, or the selection's own rate. Error if the selection is empty, or
/// the rate makes no sense.
Result<Grid> make_grid(Time begin, Time end, uint64_t visits, const SeriesSelection& selection);

}  // namespace culprit::predict
