// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Steps are read once, location by location; their other data are moved into the graph.
#include "predict/rerun/event_graph.h"

#include <algorithm>
#include <utility>

#include "base/parallel.h"

namespace culprit::predict {

namespace {

/// The tenth of the transfers of one hop that is shortest decides.
Duration find_latency(const EventGraph& graph) {
  std::vector<int64_t> nanos;
  for (const Column<Step>& steps : graph.steps) {
    for (const Step& step : steps) {
      if (step.kind() != StepKind::transfer) continue;
      if (graph.deliveries[step.delivery].hops() == 1) nanos.push_back(step.amount);
    }
  }
  if (nanos.empty()) return Duration::zero();
  const auto tenth = nanos.begin() + static_cast<ptrdiff_t>(nanos.size() / 10);
  std::nth_element(nanos.begin(), tenth, nanos.end());
  return Duration::from_nanos(*tenth);
}

}  // namespace

EventGraph build_graph(Outline outline, unsigned threads) {
  const replay::Run& run = outline.run;
  std::vector<Duration> polled(run.timelines.size());
  EventGraph built;
  built.begin = run.begin;
  built.end = run.end;
  built.locations = run.locations;
  built.steps.resize(run.timelines.size());
  parallel_for(run.locations.size(), threads, [&](size_t i) {
    const size_t at = run.locations[i].index();
    StepReader reader(outline, run.locations[i]);
    for (Step step{}; reader.next(step);) built.steps[at].push_back(step);
    polled[at] = reader.polled();
  });
  built.unknowns = outline.found.unknowns;
  for (const Duration one : polled) built.unknowns.polled += one;
  built.hubs = std::move(outline.found.hubs);
  for (size_t i = 0; i < built.hubs.size(); ++i) built.hubs[i].signals = outline.signals[i];
  built.meetings = std::move(outline.found.meetings);
  built.loops = std::move(outline.found.loops);
  built.pools = std::move(outline.found.pools);
  built.passed = std::move(outline.passed);
  built.holdings = std::move(outline.found.holdings);
  built.deliveries = std::move(outline.found.deliveries);
  built.locks = outline.found.locks;
  built.latency = find_latency(built);
  return built;
}

}  // namespace culprit::predict
