// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// How the cost of a delay is distributed: over locations, by the load that causes it, and over the
// run's time (when/). The kinds are those that Boehme's thesis finds in real programs (sections
// 3.3.2 and 3.3.4): each asks for another remedy. An overloaded minority is worth searching for;
// load that moves over time does not show in a profile and calls for dynamic balancing.
#pragma once

#include <vector>

#include "base/progress/budget.h"
#include "blame/critical_path/critical_profile.h"
#include "blame/delay/delay.h"
#include "blame/findings/findings.h"

namespace culprit::blame {

/// How loads are distributed over the locations that share the work.
struct Groups {
  Shape shape = Shape::single;
  size_t high = 0;  ///< size of the highest group, if there are any
  size_t low = 0;   ///< size of the lowest
};

inline constexpr double kEven = 0.05;
/// Part of the loads' variance that a cut into two groups explains at its best: 3/4 for loads that
/// are spread evenly over a range (4/5 for just four of them), 2/pi for normal ones.
inline constexpr double kTwoGroups = 0.85;
/// ... and that a second cut, into three groups, explains: 8/9 for an even spread. Applied to at
/// least kLeastOfThree loads.
inline constexpr double kThreeGroups = 0.95;
inline constexpr size_t kLeastOfThree = 7;
/// The largest part that is a minority; a single one always is.
inline constexpr double kMinority = 1.0 / 3;

/// Returns the loads of all who share a piece of work. `loads`: of the threads that are expected to
/// do it, the first of each process; `helpers`: of others that were found in it. One that did only
/// a little is a library's thread that a sample hit there; where helpers do most, a first thread
/// without any is none of them.
std::vector<double> loads_of_sharers(std::vector<double> loads, const std::vector<double>& helpers);

/// O(n log n) for n loads, in any order and unit.
Groups find_groups(std::vector<double> loads);

inline constexpr size_t kDelaysWithDistribution = 10;

/// Returns the distributions of the costliest delays, the largest first. Loads are times without
/// waiting; the locations that share the work are those of the call path's class
/// (critical_profile.h). Of all ranks; collective.
std::vector<FoundDistribution> distribute_delays(const replay::Run& run,
                                                 const replay::WaitGraph& graph,
                                                 const DelayAnalysis& delays,
                                                 const Profiles& profiles, unsigned threads,
                                                 Budget& budget);

}  // namespace culprit::blame
