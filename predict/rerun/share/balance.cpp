// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The same two walks as for a report's gains (alterations.h), over steps that have been written.
#include <memory>

#include "predict/rerun/scenario.h"
#include "predict/rerun/share/measure_work.h"

namespace culprit::predict {

namespace {

/// A step with what it takes so far.
Step at_present(const Step& step, const Column<double>& times, size_t place) {
  Step present = step;
  if (times[place] == kAsItWas || step.kind() == StepKind::idle) return present;
  present.amount = whole_nanos(times[place]).nanos();
  return present;
}

}  // namespace

void balance(const replay::Run& run, const EventGraph& graph, std::vector<CallPathId> paths,
             Sharers sharers, OtherTimes& times) {
  Alteration alteration{std::move(paths), Way::balanced, std::move(sharers), {}, true};
  std::vector<Alteration> list;
  list.push_back(std::move(alteration));
  Alterations all(std::move(list), run.callpaths.size(), run.timelines.size());
  const std::vector<Elsewhere> nothing;
  WorkMeasure measure(run, {graph.hubs, graph.meetings, graph.pools, graph.passed, nothing},
                      graph.loops, all);
  for (LocationId id : all[0].sharers.members) {
    const Column<Step>& steps = graph.steps[id.index()];
    const Column<double>& own = other_times(graph, id, times[id.index()]);
    LocationWork work = measure.begin(id);
    for (size_t i = 0; i < steps.size(); ++i) {
      const Step step = at_present(steps[i], own, i);
      work.pass(steps[i], static_cast<double>(step.amount));
    }
    work.finish();
  }
  all[0].spread = measure.spread(0);
  for (LocationId id : all[0].sharers.members) {
    const Column<Step>& steps = graph.steps[id.index()];
    Column<double>& own = *times[id.index()];
    StepDifferences differences(all, id);
    for (size_t i = 0; i < steps.size(); ++i) {
      const Step step = at_present(steps[i], own, i);
      differences.pass(step, [&](uint32_t, double nanos) {
        if (nanos == 0) return;
        const bool none = own[i] == kAsItWas && step.kind() == StepKind::idle;
        own[i] = (none                 ? 0
                  : own[i] == kAsItWas ? static_cast<double>(step.amount)
                                       : own[i]) +
                 nanos;
      });
    }
  }
}

}  // namespace culprit::predict
