// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The changes worth trying in a run, and the locations over which its work would be spread evenly.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "blame/findings/findings.h"
#include "predict/rerun/scenario.h"

namespace culprit::predict {

/// The time without waiting of locations at call paths, from findings.
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
struct GainCandidate {
  std::vector<CallPathId> paths;  ///< the costliest first
  double cost_s = 0;
  std::map<CallPathId, double> by_path;
  std::map<std::string, double> by_pattern;
  std::map<LocationId, double> by_location;
};

/// Call paths of code whose delays cost most; none that costs less than `least_s`.
std::vector<GainCandidate> costly_paths(const replay::Run& run, const blame::Findings& findings,
                                        double least_s, size_t most);

/// The same of functions, each with all call paths at which it is to blame (`functions`): in
/// parallel regions and outside, the costlier of the two first.
std::vector<std::vector<GainCandidate>> costly_functions(
    const replay::Run& run, const blame::Findings& findings,
    const std::vector<std::vector<CallPathId>>& functions, double least_s, size_t most);

/// Returns other call paths of code: those with the most time beyond the mean on one location, at
/// least `least_s`. No location waits for them as long as others are later still.
std::vector<GainCandidate> uneven_paths(const replay::Run& run, const WorkTimes& work,
                                        const blame::Findings& findings,
                                        const std::vector<GainCandidate>& others, double least_s,
                                        size_t most);

/// Whether threads wait for a candidate because it holds a lock: OpenMP's locks, whose holdings are
/// all recorded, or those of POSIX threads, of which only contended holdings are.
enum class LockKind : uint8_t { none, recorded, awaited };
LockKind lock_kind(const GainCandidate& candidate);

/// Threads of a process share what makes threads wait; ranks all else: those threads of theirs that
/// are late, and where it lies in parallel regions all of them.
Sharers sharers_of(const replay::Run& run, const Population& all, const WorkTimes& work,
                   const GainCandidate& candidate);

}  // namespace culprit::predict
