// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The findings of a run's parts with the same ids for the same call paths, locations and counters.
#pragma once

#include <vector>

#include "blame/bursts/burst_run.h"

namespace culprit::blame {

struct CommonRun {
  std::vector<FoundCallPath> callpaths;
  std::vector<FoundLocation> locations;
  std::vector<FoundMetric> metrics;
  BurstRun parts;     ///< with the ids of these, and without such lists of their own
  double rest_s = 0;  ///< of the run, behind the part that was traced whole
  double seen_s = 0;  ///< of the windows
  /// The windows' part of the time that they stand for.
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
