// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Candidates are the call paths whose delays cost most. Who shares the work of one is decided
// here, by whom it makes wait: a team inside its regions, processes thread by thread elsewhere.
// Each candidate's change, and each prefix's, is an execution of its own; they run side by side.
#include "predict/rerun/gains.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "base/parallel.h"
#include "predict/rerun/scenario.h"

namespace culprit::predict {

namespace {

using blame::Findings;
using blame::FoundDelay;
using blame::GainKind;
using replay::Run;

constexpr size_t kCandidates = 8;
/// Executing more steps than these again and again would take longer than the analysis.
constexpr size_t kManySteps = 20'000'000;
constexpr size_t kFewCandidates = 3;

/// A call path that delays others.
struct Candidate {
  CallPathId path;
  double cost_s = 0;
  std::map<std::string, double> by_pattern;
  std::set<LocationId> locations;

  bool of_threads() const {
    const auto most =
        std::max_element(by_pattern.begin(), by_pattern.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    return most->first.starts_with("omp.") || most->first.starts_with("thread.");
  }
};

std::vector<Candidate> candidates(const Run& run, const Findings& findings, size_t most) {
  std::map<CallPathId, Candidate> all;
  for (const FoundDelay& row : findings.delays) {
    if (findings.callpaths[row.callpath.index()].start_up || !is_code(run, row.callpath)) continue;
    Candidate& candidate = all[row.callpath];
    candidate.path = row.callpath;
    candidate.cost_s += row.short_s + row.long_s;
    candidate.by_pattern[row.pattern] += row.short_s + row.long_s;
    candidate.locations.insert(row.location);
  }
  std::vector<Candidate> list;
  for (auto& [path, candidate] : all) list.push_back(std::move(candidate));
  std::stable_sort(list.begin(), list.end(),
                   [](const Candidate& a, const Candidate& b) { return a.cost_s > b.cost_s; });
  if (list.size() > most) list.resize(most);
  return list;
}

bool inside_parallel_region(const Run& run, CallPathId path) {
  for (; path.valid(); path = run.callpaths[path].parent) {
    const RegionId region = run.callpaths[path].region;
    if (region.valid() && run.regions[region.index()].role == trace::RegionRole::parallel) {
      return true;
    }
  }
  return false;
}

class Gains {
 public:
  Gains(const Run& run, const EventGraph& graph) : run_(run), graph_(graph) {
    locks_ = best_lock_order(graph);
    unchanged_ = execute_with({});
  }

  /// Adds a candidate's change to others'.
  GainKind change(const Candidate& candidate, OtherTimes& times) const {
    times.resize(run_.timelines.size());
    std::vector<bool> paths(run_.callpaths.size());
    paths[candidate.path.index()] = true;
    const Sharers sharers = sharers_of(candidate, paths);
    if (sharers.members.size() >= 2) {
      balance(graph_, paths, sharers, times);
      return GainKind::balanced;
    }
    for (LocationId id : run_.locations) halve(id, paths, times[id.index()]);
    return GainKind::halved;
  }

  double gain_s(const OtherTimes& times) const {
    return std::max(0.0, unchanged_ - execute_with(times));
  }

 private:
  double execute_with(const OtherTimes& times) const {
    Pace pace;
    pace.locks = locks_;
    for (const auto& other : times) pace.times.push_back(other.get());
    return execute(graph_, pace, Keep::ends).wall(graph_).seconds();
  }

  bool executes(LocationId id, const std::vector<bool>& paths) const {
    const Column<Step>& steps = graph_.steps[id.index()];
    return std::any_of(steps.begin(), steps.end(), [&](const Step& step) {
      return step.kind() == StepKind::work && paths[step.what];
    });
  }

  /// A team shares what lies in its parallel regions, also with threads that do nothing there.
  /// Processes share what several of them do, thread by thread.
  Sharers sharers_of(const Candidate& candidate, const std::vector<bool>& paths) const {
    Sharers sharers;
    if (candidate.locations.empty()) return sharers;
    const trace::Location& first = run_.location(*candidate.locations.begin());
    const bool of_team = candidate.of_threads() && inside_parallel_region(run_, candidate.path);
    if (candidate.of_threads() && !of_team) return sharers;
    sharers.of_one_process = of_team;
    if (of_team && candidate.locations.size() > 1) {
      for (LocationId id : candidate.locations) {
        if (run_.location(id).process != first.process) return every_thread(paths);
      }
    }
    for (LocationId id : run_.locations) {
      if (run_.is_stream(id)) continue;
      const trace::Location& location = run_.location(id);
      const bool fits = of_team ? location.process == first.process && !run_.at(id).teams.empty()
                                : location.thread == first.thread && executes(id, paths);
      if (fits) sharers.members.push_back(id);
    }
    return sharers;
  }

  /// Threads of several processes are late: all share it.
  Sharers every_thread(const std::vector<bool>& paths) const {
    Sharers sharers;
    for (LocationId id : run_.locations) {
      if (!run_.is_stream(id) && executes(id, paths)) sharers.members.push_back(id);
    }
    return sharers;
  }

  void halve(LocationId id, const std::vector<bool>& paths,
             std::unique_ptr<Column<double>>& times) const {
    if (!executes(id, paths)) return;
    const Column<Step>& steps = graph_.steps[id.index()];
    if (!times) {
      times = std::make_unique<Column<double>>();
      times->resize(steps.size(), kAsItWas);
    }
    for (size_t i = 0; i < steps.size(); ++i) {
      if (steps[i].kind() != StepKind::work || !paths[steps[i].what]) continue;
      double& time = (*times)[i];
      time = 0.5 * (time == kAsItWas ? static_cast<double>(steps[i].amount) : time);
    }
  }

  const Run& run_;
  const EventGraph& graph_;
  LockOrder locks_ = LockOrder::asked;
  double unchanged_ = 0;
};

}  // namespace

void project_gains(const Run& run, const EventGraph& graph, Findings& findings, unsigned threads) {
  for (const auto& [name, loss] : findings.losses.all()) {
    if (loss.severity == Severity::data_loss) return;  // what is missing might have been waited for
  }
  size_t steps = 0;
  for (const Column<Step>& of_location : graph.steps) steps += of_location.size();
  const std::vector<Candidate> list =
      candidates(run, findings, steps > kManySteps ? kFewCandidates : kCandidates);
  if (list.empty()) return;
  const Gains gains(run, graph);
  findings.gains.resize(list.size());
  // Each by itself, then each with all that cost more.
  parallel_for(2 * list.size(), threads, [&](size_t work) {
    const size_t last = work / 2;
    OtherTimes times;
    GainKind kind{};
    for (size_t c = work % 2 == 0 ? last : 0; c <= last; ++c) kind = gains.change(list[c], times);
    blame::FoundGain& row = findings.gains[last];
    if (work % 2 == 0) {
      row.callpath = list[last].path;
      row.kind = kind;
      row.gain_s = gains.gain_s(times);
    } else {
      row.together_s = gains.gain_s(times);
    }
  });
}

}  // namespace culprit::predict
