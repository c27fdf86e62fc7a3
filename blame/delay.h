// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Delay analysis: which excess work of whom is answerable for each wait (thesis chapter 4; the
// formulas are numbered there, equations 4.1 to 4.7). For a wait (p,i) with amount w, cause (q,k)
// and the synchronisation interval since p and q met last:
//
//   delta(q,c) = max(d_q(c) - d_p(c), 0)      excess time of the late location at call path c
//   D = sum of delta,  W = sum of the waits on q inside the interval
//   short-term cost(q,c) += delta(q,c) / (D + W) * w
//   long-term  cost(q,c) += delta(q,c) / (D + W) * phi(p,i)
//   phi(q,l) += w(q,l) / (D + W) * (w + phi(p,i))    for each wait l of q inside the interval
//
// Costs are conserved: short-term + long-term + unattributed = waiting. Results do not depend on
// the number of threads: each sum is made in one fixed order. Of several ranks each explains what
// its own locations caused; the waits of others among it are guests (guests.h).
#pragma once

#include <vector>

#include "blame/path_clock.h"
#include "blame/path_times.h"
#include "replay/waits.h"

namespace culprit::blame {

/// What delay analysis says of one wait.
struct WaitCause {
  Duration excess, waiting;               ///< D and W
  double long_s = 0;                      ///< phi: waiting that this wait causes elsewhere
  double propagating_s = 0;               ///< the part of it that propagates; the rest is terminal
  uint32_t first_wait = 0, end_wait = 0;  ///< the waits on the cause inside the interval
  uint32_t first_excess = 0, end_excess = 0;  ///< in DelayAnalysis::excess of the cause

  double denominator_s() const { return excess.seconds() + waiting.seconds(); }
  double indirect_s(Duration amount) const {
    const double all = denominator_s();
    return all > 0 ? waiting.seconds() / all * amount.seconds() : 0;
  }
};

/// A wait: whose, and which of that location's.
struct WaitRef {
  LocationId location;
  uint32_t wait;
};

/// There are several to a wait: kept in twelve bytes.
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

struct DelayCost {
  LocationId location;
  CallPathId path;
  replay::Pattern pattern;
  double short_s = 0;
  double long_s = 0;
};

struct UnattributedCost {
  replay::Pattern pattern;
  double time_s = 0;
};

struct DelayAnalysis {
  std::vector<Column<WaitCause>> causes;  ///< by LocationId of the waiter, by wait; guests', too
  std::vector<Column<WaitRef>> caused;    ///< by LocationId of the cause
  std::vector<Column<Excess>> excess;     ///< by LocationId of the cause
  /// By LocationId of the cause, in order of place: whose entries of excess are what is taken off.
  std::vector<Column<SharedExcess>> shared;
  std::vector<DelayCost> costs;  ///< by location, then first come
  /// D + W = 0: nobody was later than the waiter. Of all ranks.
  std::vector<UnattributedCost> unattributed;
};

/// When excess vectors are shared instead of written out (path_clock.h). What comes out is the
/// same.
struct ShareExcess {
  size_t activities = 64;  ///< of intervals with at least so many
  double written = 1;      ///< once long vectors have more entries for each activity and wait
};

/// Adds guests to the graph's waits, and uses its synchronisation points up. Collective.
DelayAnalysis analyze_delays(const replay::Run& run, replay::WaitGraph& graph,
                             const std::vector<PathTimes>& times, unsigned threads,
                             const ShareExcess& share = {});

}  // namespace culprit::blame
