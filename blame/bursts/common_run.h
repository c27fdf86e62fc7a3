// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The findings of a run's parts with the same ids for the same call paths, locations and counters.
#pragma once

#include <span>
#include <vector>

#include "blame/bursts/burst_run.h"

namespace culprit::blame {

struct CommonRun {
  std::vector<FoundCallPath> callpaths;
  std::vector<FoundLocation> locations;
  std::vector<FoundMetric> metrics;
  BurstRun parts;     ///< with the ids of these, and without such lists of their own
  double rest_s = 0;  ///< of the run, behind the part that was traced whole
  /// Where there are no windows: the part that was traced whole, without start-up.
  std::vector<TracedWindow> first_part;
  double seen_s = 0;  ///< of the sample
  /// The sample is no part of the rest, of which nothing was seen.
  bool is_apart() const { return !first_part.empty(); }
  /// What stands for the rest: the windows, or without any, for lack of better knowledge, the part
  /// before it.
  std::span<const TracedWindow> sample() const { return is_apart() ? first_part : parts.windows; }
  /// The sample's length, as a part of the time that it stands for.
  double covered() const { return rest_s > 0 ? seen_s / rest_s : 1; }
  uint32_t rank(LocationId location) const {
    return location.valid() ? locations[location.index()].rank : 0;
  }
};

CommonRun on_common_ground(BurstRun run);

/// For rows that have the ids of the common ground.
struct SameIds {
  template <class T>
  const T& operator()(const T& value) const {
    return value;
  }
};

}  // namespace culprit::blame
