// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The line through the intervals whose offset changes least; beyond both ends the nearest offset
// stays.
#include "assemble/device/device_clock.h"

#include <algorithm>

namespace culprit::assemble {
namespace {

Duration width(const DeviceClock::Moment& moment) {
  return moment.at_most - moment.at_least;
}

/// The offset within a moment's interval that is nearest to `offset`.
int64_t nearest(const DeviceClock::Moment& moment, int64_t offset) {
  const auto shown = static_cast<int64_t>(moment.nanoseconds);
  return std::clamp(offset, moment.at_least.nanos() - shown, moment.at_most.nanos() - shown);
}

}  // namespace

DeviceClock::DeviceClock(std::vector<Moment> moments) {
  if (moments.empty()) return;
  std::sort(moments.begin(), moments.end(),
            [](const Moment& a, const Moment& b) { return a.nanoseconds < b.nanoseconds; });
  const auto best =
      std::min_element(moments.begin(), moments.end(),
                       [](const Moment& a, const Moment& b) { return width(a) < width(b); });
  const auto start = static_cast<size_t>(best - moments.begin());
  const int64_t middle = best->at_least.nanos() + width(*best).nanos() / 2;
  const int64_t offset = middle - static_cast<int64_t>(best->nanoseconds);
  breakpoints_.resize(moments.size());
  int64_t last = offset;
  for (size_t i = start; i < moments.size(); ++i) {
    breakpoints_[i] = {moments[i].nanoseconds, last = nearest(moments[i], last)};
  }
  last = offset;
  for (size_t i = start; i-- > 0;) {
    breakpoints_[i] = {moments[i].nanoseconds, last = nearest(moments[i], last)};
  }
}

Time DeviceClock::time(uint64_t nanoseconds) const {
  const auto shown = static_cast<int64_t>(nanoseconds);
  if (breakpoints_.empty()) return Time::from_nanos(std::max<int64_t>(shown, 0));
  const auto after = std::upper_bound(
      breakpoints_.begin(), breakpoints_.end(), nanoseconds,
      [](uint64_t time, const Breakpoint& breakpoint) { return time < breakpoint.nanoseconds; });
  int64_t offset = after == breakpoints_.begin() ? after->offset : (after - 1)->offset;
  if (after != breakpoints_.begin() && after != breakpoints_.end()) {
    const Breakpoint& before = *(after - 1);
    const auto whole = static_cast<double>(after->nanoseconds - before.nanoseconds);
    const auto part = static_cast<double>(nanoseconds - before.nanoseconds);
    offset +=
        static_cast<int64_t>(static_cast<double>(after->offset - before.offset) * part / whole);
  }
  return Time::from_nanos(std::max<int64_t>(shown + offset, 0));
}

}  // namespace culprit::assemble
