// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The waits of each location, summed by pattern and call path: most findings need only these sums,
// and they are few. Polling is included.
#pragma once

#include <vector>

#include "blame/delay/delay.h"

namespace culprit::blame {

struct WaitSum {
  replay::Pattern pattern;
  CallPathId path;
  uint64_t count = 0;
  Duration time;
  double indirect_s = 0;     ///< as Lateness::indirect_s
  double propagating_s = 0;  ///< as WaitCause::propagating_s
};

/// By LocationId; of this rank's.
using WaitSums = std::vector<std::vector<WaitSum>>;

WaitSums sum_waits(const replay::Run& run, const replay::WaitGraph& graph,
                   const DelayAnalysis& delays, unsigned threads);

/// All waiting of one location.
inline Duration total(const std::vector<WaitSum>& sums) {
  Duration all;
  for (const WaitSum& sum : sums) {
    if (replay::counts_as_waiting(sum.pattern)) all += sum.time;
  }
  return all;
}

}  // namespace culprit::blame
