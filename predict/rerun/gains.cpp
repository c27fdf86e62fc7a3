// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Candidates are the call paths and functions whose delays cost most, and call paths that are so
// uneven that they may stand behind these. Each candidate's change, and each prefix's, is an
// execution of its own; they run side by side.
#include "predict/rerun/gains.h"

#include <algorithm>

#include "base/parallel.h"
#include "predict/rerun/candidates.h"
#include "predict/rerun/whole_run.h"

namespace culprit::predict {

namespace {

using blame::Findings;
using blame::GainKind;
using replay::Run;

constexpr size_t kPaths = 6, kUneven = 2, kFunctions = 4;
/// Executing more steps than these again and again would take longer than the analysis.
constexpr size_t kManySteps = 20'000'000;
constexpr size_t kFewPaths = 2, kFewUneven = 1, kFewFunctions = 1;

/// Of the run: what costs less, or is less uneven, is not worth a try.
constexpr double kLeastCost = 0.005, kLeastExcess = 0.01;
/// Of its cost by sharer: where spreading evenly moves less, the load is even over what can be told
/// apart, and yet others wait: it moves in a way that is not known.
constexpr double kMovesLittle = 0.1;

class Gains {
 public:
  Gains(const Run& run, const EventGraph& graph) : run_(run), graph_(graph) {
    locks_ = best_lock_order(graph);
    unchanged_ = execute_with({});
  }

  /// Adds a candidate's change to others'.
  void change(const Candidate& candidate, GainKind kind, OtherTimes& times) const {
    times.resize(run_.timelines.size());
    const std::vector<bool> paths = paths_of(candidate);
    if (kind == GainKind::balanced) {
      for (const Sharers& sharers : sharers_of(run_, graph_, candidate)) {
        balance(graph_, paths, sharers, times);
      }
      return;
    }
    for (LocationId id : run_.locations) halve(id, paths, times[id.index()]);
  }

  GainKind kind_of(const Candidate& candidate) const {
    const std::vector<Sharers> all = sharers_of(run_, graph_, candidate);
    const std::vector<bool> paths = paths_of(candidate);
    OtherTimes scratch(run_.timelines.size());
    double moved_s = 0, members = 0;
    for (const Sharers& sharers : all) {
      moved_s += 1e-9 * balance(graph_, paths, sharers, scratch);
      members += static_cast<double>(sharers.members.size());
    }
    const bool moves = moved_s * members >= kMovesLittle * candidate.cost_s;
    return !all.empty() && moves ? GainKind::balanced : GainKind::halved;
  }

  double gain_s(const OtherTimes& times) const { return unchanged_ - execute_with(times); }

 private:
  std::vector<bool> paths_of(const Candidate& candidate) const {
    std::vector<bool> paths(run_.callpaths.size());
    for (CallPathId path : candidate.paths) paths[path.index()] = true;
    return paths;
  }

  double execute_with(const OtherTimes& times) const {
    Pace pace;
    pace.locks = locks_;
    for (const auto& other : times) pace.times.push_back(other.get());
    return execute(graph_, pace, Keep::ends).wall(graph_).seconds();
  }

  void halve(LocationId id, const std::vector<bool>& paths,
             std::unique_ptr<Column<double>>& times) const {
    if (!works_at(graph_, id, paths)) return;
    const Column<Step>& steps = graph_.steps[id.index()];
    Column<double>& own = other_times(graph_, id, times);
    for (size_t i = 0; i < steps.size(); ++i) {
      if (steps[i].kind() != StepKind::work || !paths[steps[i].what]) continue;
      double& time = own[i];
      time = 0.5 * (time == kAsItWas ? static_cast<double>(steps[i].amount) : time);
    }
  }

  const Run& run_;
  const EventGraph& graph_;
  LockOrder locks_ = LockOrder::asked;
  double unchanged_ = 0;
};

size_t count_steps(const EventGraph& graph) {
  size_t steps = 0;
  for (const Column<Step>& of_location : graph.steps) steps += of_location.size();
  return steps;
}

/// Each by itself, and with all before it.
void project_paths(const Gains& gains, const std::vector<Candidate>& list, unsigned threads,
                   std::vector<blame::FoundGain>& rows) {
  rows.resize(list.size());
  parallel_for(list.size(), threads, [&](size_t i) {
    rows[i].callpath = list[i].paths.front();
    rows[i].kind = gains.kind_of(list[i]);
  });
  parallel_for(2 * list.size(), threads, [&](size_t work) {
    const size_t last = work / 2;
    const bool alone = work % 2 == 0;
    OtherTimes times;
    for (size_t c = alone ? last : 0; c <= last; ++c) gains.change(list[c], rows[c].kind, times);
    (alone ? rows[last].gain_s : rows[last].together_s) = gains.gain_s(times);
  });
}

void project_functions(const Gains& gains, const std::vector<std::vector<Candidate>>& list,
                       unsigned threads, std::vector<blame::FoundFunctionGain>& rows) {
  rows.resize(list.size());
  parallel_for(list.size(), threads, [&](size_t i) {
    OtherTimes times;
    blame::FoundFunctionGain& row = rows[i];
    row.callpath = list[i].front().paths.front();
    row.kind = gains.kind_of(list[i].front());
    for (const Candidate& half : list[i]) {
      const GainKind kind = gains.kind_of(half);
      gains.change(half, kind, times);
      if (kind != row.kind) row.kind = GainKind::mixed;
    }
    row.gain_s = gains.gain_s(times);
  });
}

}  // namespace

void project_gains(const Run& run, const EventGraph& graph,
                   const std::vector<std::vector<CallPathId>>& functions, unsigned threads,
                   Findings& findings) {
  if (!check_whole(findings)) return;
  const bool many = count_steps(graph) > kManySteps;
  const double wall_s = run.wall().seconds(), least_s = kLeastCost * wall_s;
  std::vector<Candidate> list = costly_paths(run, findings, least_s, many ? kFewPaths : kPaths);
  if (list.empty()) return;
  auto uneven =
      uneven_paths(run, graph, findings, list, kLeastExcess * wall_s, many ? kFewUneven : kUneven);
  for (Candidate& one : uneven) list.push_back(std::move(one));
  const Gains gains(run, graph);
  project_paths(gains, list, threads, findings.gains);
  project_functions(
      gains, costly_functions(run, findings, functions, least_s, many ? kFewFunctions : kFunctions),
      threads, findings.function_gains);
}

}  // namespace culprit::predict
