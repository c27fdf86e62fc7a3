// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Computes the costs of one location's delays, after all waits have been propagated.
#pragma once

#include <vector>

#include "blame/delay/delay.h"

namespace culprit::blame {

inline constexpr auto kPolling = static_cast<size_t>(replay::pattern("mpi.polling"));

struct LocationCosts {
  std::vector<DelayCost> rows;       ///< by call path and pattern of the waits, first come
  std::vector<PollingCost> polling;  ///< first come
  PatternSums unexplained_s{};       ///< what nobody is charged with; polling under its own
  double launch_s = 0;               ///< likewise, of run.start_skew
  PatternSums unknown_wait_s{};      ///< likewise, of waiting for devices, for what is not known
  uint64_t unexplained_waits = 0;    ///< by more than clocks may err
};

LocationCosts sum_delay_costs(const replay::Run& run, const replay::WaitGraph& graph,
                              const DelayAnalysis& delays, LocationId late);

}  // namespace culprit::blame
