// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Each location draws from random numbers of its own, so that what one draws does not depend on
// the order in which locations are executed.
#include "predict/rerun/perturb.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/statistics.h"

namespace culprit::predict {

namespace {

Sampled summed_up(const std::vector<double>& walls) {
  Sampled all;
  const auto count = static_cast<double>(walls.size());
  all.repeats = static_cast<unsigned>(walls.size());
  all.mean_s = std::accumulate(walls.begin(), walls.end(), 0.0) / count;
  double squares = 0;
  for (double wall : walls) squares += (wall - all.mean_s) * (wall - all.mean_s);
  const double half = walls.size() < 2 ? 0
                                       : student_quantile(0.975, all.repeats - 1) *
                                             std::sqrt(squares / (count - 1) / count);
  all.low_s = all.mean_s - half;
  all.high_s = all.mean_s + half;
  const auto [least, most] = std::minmax_element(walls.begin(), walls.end());
  all.least_s = *least;
  all.most_s = *most;
  return all;
}

}  // namespace

Pace perturbed(const Pace& pace, const Scenario& scenario, unsigned repeat,
               std::vector<Rng>& generators, size_t locations) {
  generators.clear();
  for (size_t i = 0; i < locations; ++i) {
    generators.emplace_back(scenario.seed, repeat * locations + i);  // no two seeds share a repeat
  }
  Pace with = pace;
  const Perturbation& change = scenario.perturbation;
  if (change.changes_compute()) {
    with.noise = [&](LocationId id, Duration compute) {
      return sample_compute_noise(change, generators[id.index()], compute);
    };
  }
  if (change.message_delay) {
    with.message_delay = [&](LocationId id) {
      return sample_message_delay(change, generators[id.index()]);
    };
  }
  return with;
}

Sampled execute_perturbed(const EventGraph& graph, const Scenario& scenario, const Pace& pace) {
  const unsigned repeats = scenario.is_random() ? std::max(1u, scenario.repeats) : 1;
  std::vector<Rng> generators;
  std::vector<double> walls;
  for (unsigned repeat = 0; repeat < repeats; ++repeat) {
    const Pace with = perturbed(pace, scenario, repeat, generators, graph.steps.size());
    walls.push_back(execute(graph, with, Keep::ends).wall(graph).seconds());
  }
  return summed_up(walls);
}

Sensitivities latency_sensitivities(const replay::Run& run, const EventGraph& graph,
                                    LockOrder locks) {
  constexpr size_t kMost = 12;
  Sensitivities found;
  std::vector<Sensitivity>& all = found.rows;
  all.resize(run.callpaths.size());
  Sensitivity whole;
  for (const Column<Step>& steps : graph.steps) {
    for (const Step& step : steps) {
      if (step.kind() != StepKind::transfer) continue;
      all[step.what].callpath = CallPathId(step.what);
      ++all[step.what].transfers;
      ++whole.transfers;
    }
  }
  std::erase_if(all, [](const Sensitivity& one) { return one.transfers == 0; });
  const auto fewer = [](const Sensitivity& a, const Sensitivity& b) {
    return a.transfers > b.transfers;
  };
  std::stable_sort(all.begin(), all.end(), fewer);
  if (all.size() > kMost) found.left_out = all.size() - kMost, all.resize(kMost);
  // So little more that nothing changes its order, and enough for whole nanoseconds.
  const double added = std::max(100.0, 0.05 * static_cast<double>(graph.latency.nanos()));
  Pace pace;
  pace.locks = locks;
  const double before = execute(graph, pace, Keep::ends).wall(graph).seconds();
  const auto slope = [&](const std::vector<double>& latency) {
    pace.added_latency = &latency;
    return (execute(graph, pace, Keep::ends).wall(graph).seconds() - before) * 1e9 / added;
  };
  whole.by_latency = slope(std::vector<double>(run.callpaths.size(), added));
  for (Sensitivity& one : all) {
    std::vector<double> latency(run.callpaths.size());
    latency[one.callpath.index()] = added;
    one.by_latency = slope(latency);
  }
  std::stable_sort(all.begin(), all.end(), [](const Sensitivity& a, const Sensitivity& b) {
    return a.by_latency > b.by_latency;
  });
  all.insert(all.begin(), whole);
  return found;
}

}  // namespace culprit::predict
