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

/// By how much the cause of a wait came later than the waiter, since the two synchronised.
struct Lateness {
  Duration excess;   ///< of the cause's work over the waiter's
  Duration waiting;  ///< likewise, of its waiting

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

/// What is known of a wait, or of a tie, where its location is.
struct WaitCause {
  Lateness late{};
  double propagating_s = 0;  ///< the part of the wait that propagates; the rest is terminal
  /// The cause's share of amount and long_s; below 1 where others were nearly as late.
  double share = 1;
  uint32_t number = 0;  ///< among all that the rank of the cause explains (DelayAnalysis::number)
};

/// A wait or a tie (WaitGraph::wait): its location, and its number there.
struct WaitRef {
  LocationId location;
  uint32_t wait;
};

/// A wait, or a tie, as its cause explains it. All passes go through these in order, so whatever
/// they need of each wait is here.
struct CausedWait {
  WaitRef ref;
  Time end;  ///< also of the interval
  Duration amount;
  Lateness late{};
  double long_s = 0;                      ///< phi: waiting that this wait causes elsewhere
  double share = 1;                       ///< as WaitCause::share
  double more = 1;                        ///< of the waits inside: the part that is `late.waiting`
  uint32_t first_wait = 0, end_wait = 0;  ///< the cause's own that reach into the interval
  uint32_t first_excess = 0, end_excess = 0;  ///< in DelayAnalysis::excess
  replay::Pattern pattern{};
  bool is_tie = false;
  bool is_cut = false;  ///< not all waits lie inside the interval as a whole (DelayAnalysis::cuts)

  double denominator_s() const { return late.denominator_s(amount); }
};

/// The parts of the first and of the last wait in an interval that are inside.
struct CutWaits {
  uint32_t place;  ///< in DelayAnalysis::caused
  Duration first, last;
};

/// The wait that a tie belongs to.
struct TiedTo {
  uint32_t place;  ///< of the tie, in DelayAnalysis::caused
  Time end;
  Duration amount;
};
/// `ties` are in order of place, and there is one with this place.
inline const TiedTo& find_tied_to(const Column<TiedTo>& ties, uint32_t place) {
  return *std::lower_bound(ties.begin(), ties.end(), place,
                           [](const TiedTo& tie, uint32_t at) { return tie.place < at; });
}

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
inline double waiting_s(const CausedWait& wait) {
  return replay::counts_as_waiting(wait.pattern) ? wait.amount.seconds() : 0;
}
inline double polling_s(const CausedWait& wait) {
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
  std::vector<Column<WaitCause>> causes;  ///< by LocationId of the waiter, by wait, then by tie
  std::vector<Column<uint32_t>> tied;     ///< by LocationId of the waiter: of each tie, the wait
  /// By LocationId of the cause, in order of `end`.
  std::vector<Column<CausedWait>> caused;
  std::vector<uint32_t> number;         ///< by LocationId of the cause: of the first it caused
  std::vector<Column<CutWaits>> cuts;   ///< by LocationId of the cause, in order of place
  std::vector<Column<TiedTo>> tied_to;  ///< likewise
  /// By LocationId of the cause, by place: as long_s, polling that a wait causes elsewhere. Empty
  /// where nothing polls.
  std::vector<Column<double>> polling_s;
  std::vector<Column<Excess>> excess;  ///< by LocationId of the cause
  /// By LocationId of the cause, in order of place: the waits with shared excess vectors, whose
  /// excess entries are to be subtracted.
  std::vector<Column<SharedExcess>> shared;
  std::vector<DelayCost> costs;                ///< by location, then first come
  std::vector<PollingCost> polling_causes;     ///< likewise
  std::vector<UnattributedCost> unattributed;  ///< of all ranks
  uint64_t unexplained_waits = 0;              ///< for which this rank's locations are the cause
};

}  // namespace culprit::blame
