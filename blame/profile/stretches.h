// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// One location's activities and waits as one sequence: explanations that follow a location through
// time see intervals, each at one call path and either in one wait or in none.
#pragma once

#include <algorithm>
#include <span>

#include "replay/model/waits.h"

namespace culprit::blame {

/// Calls visit(begin, end, path, wait) for each interval within [from, to), in order of time;
/// `wait` is nullptr where the location does not wait. `waits` are the location's, in order.
/// Constant work for each activity and wait. Time inside a wait at other call paths (tasks) is no
/// waiting.
template <class Visit>
void for_each_stretch(const replay::Run& run, LocationId id, std::span<const replay::Wait> waits,
                      Time from, Time to, const Visit& visit) {
  const replay::Activities& all = run.at(id).activities;
  const replay::Wait* wait = std::to_address(std::upper_bound(
      waits.begin(), waits.end(), from, [](Time t, const replay::Wait& w) { return t < w.end; }));
  const replay::Wait* const last = std::to_address(waits.end());
  for (size_t i = all.after(from); i < all.size() && all.begin(i) < to; ++i) {
    const Time end = std::min(to, all.end(i));
    const CallPathId path = all.path(i);
    for (Time at = std::max(from, all.begin(i)); at < end;) {
      while (wait != last && wait->end <= at) ++wait;
      const bool inside = wait != last && wait->begin <= at && waits_at(run, *wait, path);
      Time until = end;
      if (wait != last) until = std::min(end, wait->begin > at ? wait->begin : wait->end);
      visit(at, until, path, inside ? wait : nullptr);
      at = until;
    }
  }
}

}  // namespace culprit::blame
