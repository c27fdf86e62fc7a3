// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The costs of delays, step by step (steps.h), and from these, when and where they occur
// (timing.h).
#pragma once

#include <vector>

#include "base/progress/budget.h"
#include "blame/delay/delay.h"
#include "blame/findings/findings.h"

namespace culprit::blame {

/// Fills the fields of rows about time: movement, course and all that follows it. The rows' call
/// paths and costs must be filled already, the same on all ranks. Collective.
void find_courses(const replay::Run& run, const replay::WaitGraph& graph,
                  const DelayAnalysis& delays, unsigned threads, Budget& budget,
                  std::vector<FoundDistribution>& rows);

/// The cost of one location's delay in one step.
struct StepCost {
  uint32_t row;  ///< of those asked for
  uint32_t step;
  LocationId location;
  double cost_s = 0;
  double peers_s = 0;   ///< the part for waits of those who share the work
  double excess_s = 0;  ///< the largest excess that a wait was for
  double wait_s = 0;    ///< the longest wait
};

/// With p(l) a location's part of all cost, and p(l,s) that within step s, this is the mean over
/// steps, by their cost, of sum over l of min(p(l), p(l,s)): 1 if all steps are alike, 1/n if each
/// of n locations has a time of its own. Each (step, location) at most once.
double same_place(const std::vector<StepCost>& costs);

/// Returns whether the costliest place changes from step to step. `costs`: by step; `cost_s`: the
/// sum of all, including waits of locations that share no work.
Movement movement_of(const std::vector<StepCost>& costs, double cost_s);

}  // namespace culprit::blame
