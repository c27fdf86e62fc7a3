// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What is worth trying to change in a run, and among whom its work would be spread evenly.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "blame/findings/findings.h"
#include "predict/rerun/scenario.h"

namespace culprit::predict {

/// What locations do at call paths without waiting there, as far as findings say.
class WorkTimes {
 public:
  struct Row {
    CallPathId path;
    LocationId location;
    double time_s;  ///< above 0
  };
  explicit WorkTimes(const blame::Findings& findings);
  /// In order of call path, then of location.
  const std::vector<Row>& rows() const { return rows_; }
  /// In order.
  std::vector<LocationId> who_works_at(const std::vector<CallPathId>& paths) const;

 private:
  std::vector<Row> rows_;
};

/// Call paths that are changed together. All of them lie in parallel regions, or none does.
struct Candidate {
  std::vector<CallPathId> paths;  ///< the costliest first
  double cost_s = 0;
  std::map<CallPathId, double> by_path;
  std::map<std::string, double> by_pattern;
  std::map<LocationId, double> by_location;
};

/// Call paths of code whose delays cost most; none that costs less than `least_s`.
std::vector<Candidate> costly_paths(const replay::Run& run, const blame::Findings& findings,
                                    double least_s, size_t most);

/// The same of functions, each with all call paths at which it is to blame (`functions`): in
/// parallel regions and outside, the costlier of the two first.
std::vector<std::vector<Candidate>> costly_functions(
    const replay::Run& run, const blame::Findings& findings,
    const std::vector<std::vector<CallPathId>>& functions, double least_s, size_t most);

/// Other call paths of code: those on whose costliest location most is done beyond the mean, at
/// least `least_s`. Nobody waits for them as long as others are later still.
std::vector<Candidate> uneven_paths(const replay::Run& run, const WorkTimes& work,
                                    const blame::Findings& findings,
                                    const std::vector<Candidate>& others, double least_s,
                                    size_t most);

/// Threads of a team share what lies in its parallel regions and makes threads wait, each team by
/// itself, also those that do nothing there if several do; what makes processes wait there, all who
/// execute it. Elsewhere processes share it, thread by thread. Empty: nobody has anybody to share
/// it with.
std::vector<Sharers> sharers_of(const replay::Run& run, const WorkTimes& work,
                                const Candidate& candidate);

}  // namespace culprit::predict
