// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What delays cost, step by step (steps.h), and what that says of when and where they do
// (timing.h).
#pragma once

#include <vector>

#include "base/progress/budget.h"
#include "blame/delay/delay.h"
#include "blame/findings/findings.h"

namespace culprit::blame {

/// Fills what rows say of time: movement, course and all that follows it. The rows' call paths and
/// costs are known, the same on all ranks. Collective.
void find_courses(const replay::Run& run, const replay::WaitGraph& graph,
                  const DelayAnalysis& delays, unsigned threads, Budget& budget,
                  std::vector<FoundDistribution>& rows);

/// What one location's delay cost in one step.
struct StepCost {
  uint32_t row;  ///< of those asked for
  uint32_t step;
  LocationId location;
  double cost_s = 0;
  double peers_s = 0;   ///< the part for waits of those who share the work
  double excess_s = 0;  ///< the largest excess that a wait was for
};

/// With p(l) a location's part of all cost, and p(l,s) that within step s, this is the mean over
/// steps, by their cost, of sum over l of min(p(l), p(l,s)): 1 if all steps are alike, 1/n if each
/// of n locations has a time of its own. Each (step, location) at most once.
double same_place(const std::vector<StepCost>& costs);

/// Whether the place that costs most changes from step to step. `costs`: by step; `cost_s`: all of
/// them, also for waits of those who share no work.
Movement movement_of(const std::vector<StepCost>& costs, double cost_s);

}  // namespace culprit::blame
