// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The delay analysis (delay.h says what it is).
#pragma once

#include <vector>

#include "blame/delay/delay.h"

namespace culprit::blame {

/// When excess vectors are shared instead of written out (path_clock.h). The results are the same.
struct ShareExcess {
  size_t activities = 64;  ///< of intervals with at least this number
  double written = 1;      ///< once long vectors have more entries for each activity and wait
};

/// Adds the waits of remote locations to the graph, and uses its synchronisation points up.
/// Collective.
DelayAnalysis analyze_delays(const replay::Run& run, replay::WaitGraph& graph,
                             const std::vector<PathTimes>& times, unsigned threads,
                             const ShareExcess& share = {});

}  // namespace culprit::blame
