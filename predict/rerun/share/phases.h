// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Phases between two operations, in which members could share work (spread.h), as they are added
// up: on one rank, and over several. All sums are of whole nanoseconds, so their order is no
// matter.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "base/ranks/transport.h"
#include "predict/rerun/dependences.h"

namespace culprit::predict {

/// What members do between two operations, summed up as they are looked at. Times are nanoseconds.
struct Phase {
  static constexpr double kNone = std::numeric_limits<double>::infinity();
  double begin = kNone;  ///< of the first member
  double ready = 0;      ///< when each would be done without the work, summed up
  double earliest = kNone, latest = -kNone;        ///< of these
  double recorded = -kNone;                        ///< when the last was done
  double worked_from = kNone, worked_to = -kNone;  ///< the visits, as recorded
  double work = 0;
  double exclusive = 0;
  float most_work = 0, unit = 0, construct = 0;
  uint32_t first = UINT32_MAX;  ///< of the visits' sums
  uint32_t visits = 0;          ///< of each who has any; kDiffer
  uint32_t most_visits = 0;     ///< of one
  uint32_t members = 0;
  bool all_have_visits = true;
  bool iterations = false, task = false;

  static constexpr uint32_t kDiffer = UINT32_MAX;
  /// One member's number of visits, or that of several. The first makes room for as many sums.
  void see_visits(uint32_t count, std::vector<double>& sums) {
    if (first == UINT32_MAX) {
      first = static_cast<uint32_t>(sums.size());
      visits = count;
      if (count != kDiffer) sums.resize(sums.size() + count);
    }
    if (visits != count) visits = kDiffer;
  }
  /// No thread has visits of its own to tasks: any could execute any of them.
  bool by_visit() const { return visits != kDiffer && visits > 1 && all_have_visits && !task; }
};

/// Phases whose members are of several analysis ranks: whoever owns a phase's meeting adds up what
/// its members do. What lies behind the last meeting is the first rank's.
struct PhasesElsewhere {
  Transport& ranks;
  std::span<const Elsewhere> meetings;
};

/// Adds up what members of several ranks do: afterwards each rank has the sums of all members for
/// the phases in which it has some. `phases`: by meeting, and behind the last; `sums`: of their
/// visits. Returns which of them this rank owns. Collective.
std::vector<bool> join_phases(const PhasesElsewhere& elsewhere, size_t meetings,
                              std::vector<Phase>& phases, std::vector<double>& sums);

}  // namespace culprit::predict
