// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A run in equal parts, for time series. In whole nanoseconds, so that the parts of a time add up
// to it.
#pragma once

#include <algorithm>
#include <cstddef>

#include "base/time.h"

namespace culprit::blame {

class EqualParts {
 public:
  EqualParts(Time begin, Duration wall, size_t count) : begin_(begin), wall_(wall), count_(count) {}

  size_t count() const { return count_; }

  /// Returns the begin of a part; that of `count()` is the run's end. Computed in two steps, since
  /// wall time times parts may overflow.
  Time edge(size_t part) const {
    const auto count = static_cast<int64_t>(count_), k = static_cast<int64_t>(part);
    const int64_t whole = wall_.nanos() / count, rest = wall_.nanos() % count;
    return begin_ + Duration::from_nanos(whole * k + rest * k / count);
  }

  /// visit(part, duration) for each part that has some of [begin, end), in order.
  template <class Visit>
  void split(Time begin, Time end, const Visit& visit) const {
    if (end <= begin || wall_ <= Duration::zero()) return;
    const double place = static_cast<double>((begin - begin_).nanos()) /
                         static_cast<double>(wall_.nanos()) * static_cast<double>(count_);
    size_t part = std::min(count_ - 1, static_cast<size_t>(std::max(place, 0.0)));
    while (part > 0 && edge(part) > begin) --part;  // rounded up
    while (part + 1 < count_ && edge(part + 1) <= begin) ++part;
    for (Time at = begin; at < end; ++part) {
      const Time until = part + 1 < count_ ? std::min(end, edge(part + 1)) : end;
      if (until > at) visit(part, until - at);
      at = until;
    }
  }

 private:
  Time begin_;
  Duration wall_;
  size_t count_;
};

}  // namespace culprit::blame
