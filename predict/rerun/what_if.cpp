// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The run is analysed, and its graph executed while it is in memory; then the trace is read once
// more, at its new times.
#include "predict/rerun/what_if.h"

#include <algorithm>
#include <utility>

#include "base/parallel.h"
#include "predict/rerun/retimed_source.h"
#include "predict/rerun/whole_run.h"

namespace culprit::predict {

namespace {

/// Executed again, once as it was and once as the scenario has it.
struct Executions {
  double unchanged_wall_s = 0;
  Unknowns unknowns;
  Execution changed;
  Sampled sampled;
  Sensitivities sensitivities;
  std::set<LinkKind> unknown_links;
};

Result<Executions> execute_both(const Scenario& scenario, const replay::Run& run,
                                const EventGraph& graph, bool with_sensitivities) {
  auto change = plan(scenario, run, graph);
  if (!change) return change.error();
  Executions both;
  both.unknowns = graph.unknowns;
  both.unknown_links = std::move((*change)->unknown_links);
  Pace unchanged;
  unchanged.locks = (*change)->pace.locks;
  both.unchanged_wall_s = execute(graph, unchanged, Keep::ends).wall(graph).seconds();
  both.sampled = execute_perturbed(graph, scenario, (*change)->pace);
  std::vector<Rng> generators;
  const Pace first = perturbed((*change)->pace, scenario, 0, generators, graph.steps.size());
  both.changed = execute(graph, first, Keep::breakpoints);
  if (with_sensitivities) {
    both.sensitivities = latency_sensitivities(run, graph, unchanged.locks);
  }
  return both;
}

}  // namespace

Result<Prediction> what_if(const trace::Source& source, const Scenario& scenario, unsigned threads,
                           const Losses& losses, bool with_sensitivities) {
  threads = thread_count(threads);
  Result<Executions> executions = Error{"the run was not executed again"};
  GraphObserver observer(threads, [&](const auto& run, const EventGraph& graph, auto&) {
    executions = execute_both(scenario, run, graph, with_sensitivities);
  });
  blame::AnalyzeOptions options;
  options.threads = threads;
  options.observer = &observer;
  auto recorded = blame::analyze(source, options, losses);
  if (!recorded) return recorded.error();
  if (!executions) return executions.error();
  if (auto fit = check_whole(*recorded); !fit) return fit.error();
  auto retimed = retime(source, std::move(executions->changed.breakpoints));
  auto predicted = blame::analyze(*retimed, {.threads = threads}, losses);
  if (!predicted) return predicted.error();
  Prediction prediction;
  prediction.wall_s = recorded->run.wall_s;
  prediction.sampled = executions->sampled;
  prediction.predicted_wall_s = executions->sampled.mean_s;
  prediction.sensitivities = std::move(executions->sensitivities);
  prediction.unknown_links = std::move(executions->unknown_links);
  prediction.unchanged_wall_s = executions->unchanged_wall_s;
  prediction.unknowns = executions->unknowns;
  prediction.forced = executions->changed.forced;
  prediction.recorded = std::move(*recorded);
  prediction.predicted = std::move(*predicted);
  prediction.trace = std::move(retimed);
  return prediction;
}

}  // namespace culprit::predict
