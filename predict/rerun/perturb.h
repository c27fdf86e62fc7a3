// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A run on a noisier machine, or on a quieter one, and its sensitivity to each part of a machine
// (M. Sottile, V. Chandu, D. Bader: Performance analysis of parallel programs via message-passing
// graph traversal, IPDPS 2006): delays are sampled on the edges of the graph, and what they come to
// shows at its end. What is random is repeated.
#pragma once

#include <string>
#include <vector>

#include "predict/rerun/scenario.h"

namespace culprit::predict {

/// Of several executions with other random numbers.
struct Sampled {
  unsigned repeats = 1;
  double mean_s = 0;             ///< of the run
  double low_s = 0, high_s = 0;  ///< the mean lies there with 95 % (Student's t); the same if one
  double least_s = 0, most_s = 0;
};

/// Executes the graph at the pace, with the scenario's perturbation.
Sampled execute_perturbed(const EventGraph& graph, const Scenario& scenario, const Pace& pace);

/// The pace with random numbers of the n-th repeat. `generators` must live as long as it.
Pace perturbed(const Pace& pace, const Scenario& scenario, unsigned repeat,
               std::vector<Rng>& generators, size_t locations);

/// How much longer the run gets for each second that something takes longer, wherever it occurs:
/// how many of them come one after the other where it counts.
struct Sensitivity {
  CallPathId callpath;  ///< none: of the whole run
  uint64_t transfers = 0;
  double by_latency = 0;  ///< d run / d latency, a number of messages
};

struct Sensitivities {
  std::vector<Sensitivity> rows;  ///< of the whole run, then of calls that get data, most first
  size_t left_out = 0;            ///< call paths with fewer transfers than those shown
};
Sensitivities latency_sensitivities(const replay::Run& run, const EventGraph& graph,
                                    LockOrder locks);

}  // namespace culprit::predict
