// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What the delays of one location cost, once all waits have been propagated.
#pragma once

#include <vector>

#include "blame/delay.h"

namespace culprit::blame {

struct LocationCosts {
  std::vector<DelayCost> rows;     ///< by call path and pattern of the waits, first come
  PatternSums unexplained_s{};     ///< what nobody is charged with
  uint64_t unexplained_waits = 0;  ///< by more than clocks may err
};

LocationCosts sum_delay_costs(const replay::Run& run, const replay::WaitGraph& graph,
                              const DelayAnalysis& delays, LocationId late);

}  // namespace culprit::blame
