// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Delay analysis: which excess work of which location is responsible for each wait (thesis chapter
// 4; the formulas are numbered there, equations 4.1 to 4.7). For a wait (p,i) with amount w, cause
// (q,k) and the synchronisation interval, which begins on both when p and q last synchronised, and
// ends on p when it begins to wait, on q when it releases p:
//
//   delta(q,c) = max(d_q(c) - d_p(c), 0)      excess time of the late location at call path c
//   D = sum of delta,  V = sum of the waits on q inside the interval, of each the part inside
//   W = max(V - V of p, 0): what held up both made neither late (decision 0020, not the thesis's)
//   short-term cost(q,c) += delta(q,c) / (D + W) * w
//   long-term  cost(q,c) += delta(q,c) / (D + W) * phi(p,i)
//   phi(q,l) += w(q,l) / V * W / (D + W) * (w + phi(p,i))    for each wait l of q inside it
//
// Both sides begin at one moment and tile their time, so w <= D + W: for one wait, no call path is
// charged with more than its own excess. Where that does not hold nevertheless, w replaces D + W as
// the denominator, and the unexplained rest is unattributed.
//
// Polling is followed in the same way, and waits propagate through it; its costs are summed
// separately.
//
// Locations that were nearly as late as q share the wait (WaitGraph::ties): of n that were late,
// each but the last causes (e_j - e_p) / n of it, e being when each acted or began to wait, and the
// last the rest; phi is shared in the same proportions. A tie's share is explained as if the tie
// were the wait's cause.
//
// Costs are conserved: short-term + long-term + unattributed = waiting. Results do not depend on
// the number of threads: each sum is made in one fixed order. Of several ranks each explains what
// its own locations caused, also waits of other ranks' locations (remote_waits.h).
#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "blame/delay/path_clock.h"
#include "blame/findings/words.h"
#include "blame/profile/path_times.h"
#include "replay/model/waits.h"

namespace culprit::blame {

/// The result of delay analysis for one wait.
struct WaitCause {
  Duration excess;                        ///< of the cause's work over the waiter's
  Duration waiting;                       ///< likewise, of its waiting
  double long_s = 0;                      ///< phi: waiting that this wait causes elsewhere
  double propagating_s = 0;               ///< the part of it that propagates; the rest is terminal
  double polling_s = 0;                   ///< as long_s: polling that this wait causes elsewhere
  uint32_t first_wait = 0, end_wait = 0;  ///< the waits on the cause that reach into the interval
  Duration first_part, last_part;         ///< of the first and the last of them: what is inside
  uint32_t first_excess = 0, end_excess = 0;  ///< in DelayAnalysis::excess of the cause
  double more = 1;  ///< the part of the cause's waits in the interval that is `waiting`
  /// This cause's share of amount and long_s; below 1 where others were nearly as late.
  double share = 1;

  Duration explained() const { return excess + waiting; }
  /// Returns the denominator by which costs are divided among call paths and waits. Not zero.
  double denominator_s(Duration amount) const { return std::max(explained(), amount).seconds(); }
  /// Returns the part of the cost that is unattributed.
  double unexplained(Duration amount) const {
    return explained() >= amount ? 0 : (amount - explained()).seconds() / amount.seconds();
  }
  double indirect_s(Duration amount) const {
    return waiting.seconds() / denominator_s(amount) * amount.seconds();
  }
};

/// A wait or a tie (WaitGraph::wait): its location, and its number there.
struct WaitRef {
  LocationId location;
  uint32_t wait;
};

/// There are several entries per wait, so each takes only twelve bytes.
class Excess {
 public:
  Excess(Duration time, CallPathId path)
      : high_(static_cast<uint32_t>(time.nanos() >> 32)),
        low_(static_cast<uint32_t>(time.nanos())),
        path_(path) {}
  Duration time() const {
    return Duration::from_nanos(static_cast<int64_t>(uint64_t{high_} << 32 | low_));
  }
  CallPathId path() const { return path_; }

 private:
  uint32_t high_, low_;
  CallPathId path_;
};

using PatternSums = std::array<double, replay::kPatterns.size()>;

/// Returns the waiting time of a wait, 0 for polling: it is followed like waiting, but its time is
/// counted separately.
inline double waiting_s(const replay::Wait& wait) {
  return replay::counts_as_waiting(wait.pattern) ? wait.amount.seconds() : 0;
}
inline double polling_s(const replay::Wait& wait) {
  return wait.pattern == replay::pattern("mpi.polling") ? wait.amount.seconds() : 0;
}

/// Polling that is caused by excess time at a call path, directly or indirectly.
struct PollingCost {
  LocationId location;
  CallPathId path;
  double time_s = 0;
};

struct DelayCost {
  LocationId location;
  CallPathId path;
  replay::Pattern pattern;
  double short_s = 0;
  double long_s = 0;
};

struct UnattributedCost {
  replay::Pattern pattern;
  Unattributed reason;
  double time_s = 0;
};

struct DelayAnalysis {
  /// By LocationId of the waiter, by wait, then by tie; remote waits', too.
  std::vector<Column<WaitCause>> causes;
  std::vector<Column<uint32_t>> tied;   ///< by LocationId of the waiter: of each tie, the wait
  std::vector<Column<WaitRef>> caused;  ///< by LocationId of the cause
  std::vector<Column<Excess>> excess;   ///< by LocationId of the cause
  /// By LocationId of the cause, in order of place: the waits with shared excess vectors, whose
  /// excess entries are to be subtracted.
  std::vector<Column<SharedExcess>> shared;
  std::vector<DelayCost> costs;                ///< by location, then first come
  std::vector<PollingCost> polling_causes;     ///< likewise
  std::vector<UnattributedCost> unattributed;  ///< of all ranks
  uint64_t unexplained_waits = 0;              ///< for which this rank's locations are the cause
};

}  // namespace culprit::blame
