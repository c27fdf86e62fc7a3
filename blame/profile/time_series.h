// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Time series of a run: the times of locations and groups of them in each of some equal intervals.
// For pictures over time, which must not cost as much as reading the events. Sums are whole
// nanoseconds, so they are the same however many ranks analyse.
#pragma once

#include <vector>

#include "blame/profile/path_times.h"
#include "replay/model/waits.h"

namespace culprit::blame {

/// Returns the number of intervals of a run with `locations` locations: fewer if there are many.
size_t series_intervals(size_t locations);

/// Runs of more processes than these have neighbouring ones in a group.
inline constexpr size_t kMostSeriesGroups = 64;

struct TimeShare {
  Duration time;  ///< with waiting
  Duration waiting;
};

struct LocationInterval {
  LocationId location;
  size_t interval;
  TimeShare share;
  CallPathId path;  ///< where most of the time went
};

struct CallPathInterval {
  LocationId first;  ///< of the group
  size_t interval;
  CallPathId path;
  TimeShare share;
};

struct TimeSeries {
  size_t intervals = 0;
  std::vector<LocationInterval> locations;  ///< of this rank's, in order; none that is empty
  std::vector<CallPathInterval> callpaths;  ///< of all ranks', on rank 0; in order
};

/// Collective.
TimeSeries find_time_series(const replay::Run& run, const replay::WaitGraph& graph,
                            const std::vector<PathTimes>& times, unsigned threads);

}  // namespace culprit::blame
