// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The critical path by call path: the time on the path, how much of that is imbalance (thesis,
// section 5.2.3), and what allocation time the imbalance costs on all locations (5.2.4), split into
// costs within the partition that executes the call path and costs on locations that never do.
//
// The average that imbalance is measured against is taken over the locations of the same class: all
// threads for call paths inside parallel regions, the processes' masters for all others.
#pragma once

#include <vector>

#include "blame/critical_path/critical_path.h"
#include "blame/delay/wait_sums.h"
#include "blame/profile/path_times.h"

namespace culprit::blame {

/// Time without waiting, by call path, of one location; only what is not zero.
struct PathTime {
  CallPathId path;
  Duration time;
};
using Profiles = std::vector<std::vector<PathTime>>;  ///< by LocationId

/// Each location's whole life.
Profiles profile_activities(const replay::Run& run, const std::vector<PathTimes>& times,
                            unsigned threads);

struct CriticalCallPath {
  CallPathId path;
  Duration on_path;
  double activity_s = 0;   ///< allocation time without waiting
  double imbalance_s = 0;  ///< wall-clock
  double intra_s = 0;
  double inter_s = 0;
};

struct CriticalProfile {
  std::vector<CriticalCallPath> callpaths;  ///< in order of call path
  double costs_s = 0;                       ///< all imbalance costs
  double unattributed_s = 0;  ///< waiting of locations that do no less than the path anywhere
};

/// `places` are those of the critical path on this rank's locations. Collective; the same on all.
CriticalProfile profile_critical_path(const replay::Run& run, const WaitSums& waits,
                                      const std::vector<CriticalPlace>& places,
                                      const Profiles& profiles);

}  // namespace culprit::blame
