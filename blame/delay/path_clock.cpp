// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "blame/delay/path_clock.h"

#include <algorithm>

namespace culprit::blame {

PathClock::PathClock(const replay::Run& run, LocationId id, std::span<const replay::Wait> waits,
                     const std::span<const CallPathId>* only) {
  std::vector<Duration> sums;
  Duration all;
  const auto place_of = [&](CallPathId path) {
    const auto fresh = static_cast<uint32_t>(marks_.size());
    const uint32_t place = place_of_.at(path.index(), fresh);
    if (place == fresh) marks_.emplace_back(), sums.emplace_back();
    return place;
  };
  if (only != nullptr) {
    for (CallPathId path : *only) place_of(path);
  }
  for_each_stretch(run, id, waits, run.begin, run.end,
                   [&](Time begin, Time end, CallPathId path, const replay::Wait* wait) {
                     if (wait != nullptr) return;
                     const uint32_t place =
                         only != nullptr ? place_of_.find(path.index()) : place_of(path);
                     if (place == FlatMap::kNone) return;
                     marks_[place].push_back({begin, sums[place]});
                     all_.push_back({begin, all});
                     sums[place] += end - begin;
                     all += end - begin;
                   });
  for (size_t place = 0; place < marks_.size(); ++place) {
    marks_[place].push_back({Time::max(), sums[place]});
  }
  all_.push_back({Time::max(), all});
}

Duration PathClock::until(const Column<Mark>& marks, Time time) {
  const Mark* next = std::upper_bound(marks.begin(), marks.end() - 1, time,
                                      [](Time t, const Mark& mark) { return t < mark.begin; });
  if (next == marks.begin()) return Duration::zero();
  const Mark& mark = next[-1];
  return std::min(mark.before + (time - mark.begin), next->before);
}

}  // namespace culprit::blame
