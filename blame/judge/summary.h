// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Findings with many rows condensed for a page: delays and waits joined over locations, the largest
// first, with the locations that have most of each. Pure sums; no wording.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "blame/findings/findings.h"

namespace culprit::blame {

/// A location's part of something joined over locations.
struct Share {
  LocationId location;
  double time_s = 0;
};

/// Waits of one pattern at a call path because of one delaying call path.
struct VictimGroup {
  std::string pattern;
  CallPathId callpath;
  double time_s = 0;
  std::vector<Share> shares;  ///< largest first
};

/// Waits of one pattern that a call path causes, and further waits that these cause.
struct Effect {
  std::string pattern;
  double short_s = 0;
  double long_s = 0;
  double cost_s() const { return short_s + long_s; }
};

/// The waits of all patterns that a call path causes, on all locations.
struct Blamed {
  CallPathId callpath;
  double short_s = 0;
  double long_s = 0;
  std::vector<Share> shares;         ///< short- and long-term, largest first
  std::vector<Effect> effects;       ///< by cost, largest first
  std::vector<VictimGroup> victims;  ///< largest first; of the costliest delays alone: examples
  double cost_s() const { return short_s + long_s; }
};

/// Waiting of one pattern at a call path, on all locations.
struct PatternSum {
  std::string pattern;
  CallPathId callpath;
  uint64_t count = 0;
  double time_s = 0;
  std::vector<Share> shares;  ///< largest first
};

/// Time on the critical path at a call path, on all locations.
struct OnCriticalPath {
  CallPathId callpath;
  double time_s = 0;
  double imbalance_s = 0;
  std::vector<Share> shares;  ///< largest first
};

/// Time of a function, construct or call, wherever it was called from. What went by in calls of
/// libraries and of the system is part of it, as it is of causes (functions.h).
struct FunctionTime {
  CallPathId example;  ///< the call path with most of it, or the function if that is not half
  double time_s = 0;
};

struct PatternTotal {
  std::string pattern;
  double time_s = 0;
};

/// The counter values at a call path, summed over all locations.
struct CountedPath {
  CallPathId callpath;
  double time_s = 0;           ///< during which they counted
  std::vector<double> values;  ///< by MetricId
};

/// Idle threads' time by the code that was executed meanwhile, or by the reason why none was, over
/// all locations.
struct IdleTotal {
  CallPathId callpath;
  std::optional<NobodyReason> reason;  ///< nobody worked
  double time_s = 0;
};

/// Whether there is nothing but a profile. It knows how threads of a process wait for each other;
/// how much of the time in MPI is waiting, it does not.
bool is_of_profile_alone(const Findings& findings);
/// Whether that leaves out waiting: the program used MPI.
bool lacks_waits_of_mpi(const Findings& findings);
std::vector<IdleTotal> idle_totals(const Findings& findings);
std::vector<CountedPath> counted_paths(const Findings& findings);
/// These two without what starts and ends the program (StartUp).
std::vector<Blamed> blamed(const Findings& findings);
std::vector<PatternSum> suffered(const Findings& findings);
std::vector<OnCriticalPath> on_critical_path(const Findings& findings);
/// Returns times on the critical path, without start-up.
std::vector<FunctionTime> critical_functions(const Findings& findings);
/// Returns the threads' time in the program's own functions, without waiting.
std::vector<FunctionTime> busy_functions(const Findings& findings);
std::vector<PatternTotal> waiting_by_pattern(const Findings& findings);

}  // namespace culprit::blame
