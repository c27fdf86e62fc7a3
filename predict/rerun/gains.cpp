// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Candidates are the call paths and functions whose delays cost most, and call paths that are so
// uneven that they may stand behind these. A run with a change lasts at least as long as the
// recorded critical path does with it, so a gain is no more than what the change takes off that
// path: where that is next to nothing, nothing is executed. All others are executed in one walk;
// where that cannot be, the first few one by one.
#include "predict/rerun/gains.h"

#include <algorithm>
#include <map>
#include <new>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "base/parallel.h"
#include "predict/rerun/alterations.h"
#include "predict/rerun/candidates.h"
#include "predict/rerun/lanes.h"
#include "predict/rerun/whole_run.h"

namespace culprit::predict {

namespace {

using blame::Findings;
using blame::GainKind;
using replay::Run;

constexpr size_t kPaths = 6, kUneven = 2, kFunctions = 4;
static_assert(kPaths + kUneven + 2 * kFunctions <= kMostAlterations);
static_assert(1 + 2 * (kPaths + kUneven) - 1 + kFunctions + 1 <= kMostLanes);
/// Where each change is an execution of its own.
constexpr size_t kMostExecutions = 4;

/// For each event that was read. Marks of dependences, with what belongs to them, take some 40
/// bytes each; about one for each three events is usual. Steps are one or two in each of a few
/// walks.
constexpr uint64_t kMarks = 2, kLeastMarks = 1'000'000, kSteps = 64;
constexpr std::string_view kWhat =
    "how much shorter the run would be without the costliest delays (culprit whatif tries changes)";

/// Of the run: what costs less, or is less uneven, is not worth a try, nor is what brings less.
constexpr double kLeastCost = 0.005, kLeastExcess = 0.01, kLeastGain = 0.005;
/// Of its cost by sharer: where spreading evenly moves less, the load is even over what can be told
/// apart, and yet others wait: it moves in a way that is not known.
constexpr double kMovesLittle = 0.1;

/// What is tried: rows of findings, and the alterations that each makes.
struct Trials {
  struct Row {
    CallPathId path;  ///< that it is named after
    AlterationSet alone = 0, together = 0;
  };
  std::vector<Row> paths, functions;
  std::vector<Alteration> alterations;
  std::vector<Candidate> candidates;  ///< by alteration
};

class TrialMaker {
 public:
  TrialMaker(const Run& run, const Findings& findings) : run_(run), work_(findings) {}

  Trials make(const Findings& findings, const std::vector<std::vector<CallPathId>>& functions) {
    const double wall_s = run_.wall().seconds(), least_s = kLeastCost * wall_s;
    std::vector<Candidate> paths = costly_paths(run_, findings, least_s, kPaths);
    if (paths.empty()) return {};
    auto uneven = uneven_paths(run_, work_, findings, paths, kLeastExcess * wall_s, kUneven);
    std::move(uneven.begin(), uneven.end(), std::back_inserter(paths));
    AlterationSet together = 0;
    for (Candidate& path : paths) {
      const CallPathId name = path.paths.front();
      const AlterationSet alone = add(std::move(path));
      trials_.paths.push_back({name, alone, together |= alone});
    }
    for (auto& parts : costly_functions(run_, findings, functions, least_s, kFunctions)) {
      Trials::Row& row = trials_.functions.emplace_back();
      row.path = parts.front().paths.front();
      for (Candidate& part : parts) row.alone |= add(std::move(part));
    }
    return std::move(trials_);
  }

 private:
  /// A function that has one costly call path is the same as this.
  AlterationSet add(Candidate candidate) {
    const std::set<CallPathId> paths(candidate.paths.begin(), candidate.paths.end());
    const auto same = std::find_if(
        trials_.candidates.begin(), trials_.candidates.end(), [&](const Candidate& other) {
          return other.cost_s == candidate.cost_s &&
                 paths == std::set(other.paths.begin(), other.paths.end());
        });
    const auto number = static_cast<size_t>(same - trials_.candidates.begin());
    if (same == trials_.candidates.end()) {
      Alteration& alteration = trials_.alterations.emplace_back();
      alteration.paths = candidate.paths;
      for (Sharers& sharers : sharers_of(run_, work_, candidate)) {
        alteration.groups.push_back({std::move(sharers), {}, {}});
      }
      alteration.balanced = !alteration.groups.empty();
      trials_.candidates.push_back(std::move(candidate));
    }
    return AlterationSet{1} << number;
  }

  const Run& run_;
  const WorkTimes work_;
  Trials trials_;
};

/// Those alterations of which it turns out that they move next to nothing make work faster instead.
void settle_kinds(const std::vector<Candidate>& candidates, Alterations& all) {
  for (size_t a = 0; a < all.size(); ++a) {
    Alteration& alteration = all[a];
    double moved_s = 0, members = 0;
    for (const Alteration::Group& group : alteration.groups) {
      moved_s += group.moved_s();
      members += static_cast<double>(group.sharers.members.size());
    }
    alteration.balanced &= moved_s * members >= kMovesLittle * candidates[a].cost_s;
    if (alteration.balanced) continue;
    for (Alteration::Group& group : alteration.groups) group.own = {}, group.mean = {};
  }
}

/// By alteration: what it takes off the recorded critical path at most.
std::vector<double> most_gains(const Findings& findings, const std::vector<Alteration>& list) {
  std::map<CallPathId, double> critical_s;
  for (const blame::FoundCriticalPath& row : findings.critical_path) {
    critical_s[row.callpath] += row.time_s;
  }
  std::vector<double> most;
  for (const Alteration& alteration : list) {
    double sum_s = 0;
    for (CallPathId path : alteration.paths) {
      const auto found = critical_s.find(path);
      if (found != critical_s.end()) sum_s += found->second;
    }
    most.push_back(alteration.balanced ? sum_s : sum_s / 2);
  }
  return most;
}

bool brings_something(const Trials& trials, const Findings& findings, double least_s) {
  const std::vector<double> most = most_gains(findings, trials.alterations);
  const auto of = [&](AlterationSet set) {
    double sum_s = 0;
    for (size_t a = 0; a < most.size(); ++a) sum_s += (set >> a & 1) != 0 ? most[a] : 0;
    return sum_s;
  };
  const auto is_worth_it = [&](const Trials::Row& row) {
    return std::max(of(row.alone), of(row.together)) >= least_s;
  };
  return std::any_of(trials.paths.begin(), trials.paths.end(), is_worth_it) ||
         std::any_of(trials.functions.begin(), trials.functions.end(), is_worth_it);
}

/// By what alterations how much shorter the run gets.
using Gains = std::map<AlterationSet, double>;

/// In the order of their worth.
std::vector<AlterationSet> sets_of(const Trials& trials, bool with_progress) {
  std::vector<AlterationSet> sets;
  const auto add = [&](AlterationSet set) {
    if (std::find(sets.begin(), sets.end(), set) == sets.end()) sets.push_back(set);
  };
  if (!trials.functions.empty()) add(trials.functions.front().alone);
  if (with_progress) add(kWithProgress);
  for (const Trials::Row& row : trials.paths) add(row.alone), add(row.together);
  for (const Trials::Row& row : trials.functions) add(row.alone);
  return sets;
}

std::optional<Gains> execute_together(const Outline& outline, const Alterations& all,
                                      const std::vector<AlterationSet>& sets, Budget& budget) {
  std::vector<AlterationSet> lanes{0};
  lanes.insert(lanes.end(), sets.begin(), sets.end());
  const auto nanos = execute_lanes(outline, all, lanes, budget);
  if (!nanos) return std::nullopt;
  Gains gains;
  for (size_t k = 1; k < lanes.size(); ++k) gains[lanes[k]] = 1e-9 * (nanos->front() - (*nanos)[k]);
  return gains;
}

Gains execute_apart(Outline outline, const Alterations& all, std::vector<AlterationSet> sets,
                    unsigned threads, Budget& budget) {
  if (sets.size() > kMostExecutions) sets.resize(kMostExecutions);
  const EventGraph graph = build_graph(std::move(outline), threads);
  const LockChoice unchanged = choose_lock_order(graph, &budget);
  std::vector<double> gains(sets.size());
  parallel_for(sets.size(), threads, [&](size_t i) {
    const OtherTimes times = times_with(all, sets[i], graph);
    Pace pace;
    pace.budget = &budget;
    pace.locks = unchanged.order;
    pace.with_progress = (sets[i] & kWithProgress) != 0;
    for (const auto& other : times) pace.times.push_back(other.get());
    gains[i] = (unchanged.wall - execute(graph, pace, Keep::ends).wall(graph)).seconds();
  });
  Gains found;
  for (size_t i = 0; i < sets.size(); ++i) found[sets[i]] = gains[i];
  return found;
}

GainKind kind_of(AlterationSet set, const Alterations& all) {
  bool balanced = false, halved = false;
  for (size_t a = 0; a < all.size(); ++a) {
    if ((set >> a & 1) != 0) (all[a].balanced ? balanced : halved) = true;
  }
  return !balanced ? GainKind::halved : halved ? GainKind::mixed : GainKind::balanced;
}

/// Whether so much was waited for progress that it is worth a try.
bool needs_progress(const Findings& findings, double least_s) {
  double sum_s = 0;
  for (const blame::FoundWait& row : findings.waits) {
    if (row.pattern == "mpi.progress") sum_s += row.time_s;
  }
  return sum_s >= least_s;
}

/// Up to the first whose gain is not known.
void write_rows(const Trials& trials, const Alterations& all, const Gains& gains,
                Findings& findings) {
  for (const Trials::Row& row : trials.paths) {
    const auto alone = gains.find(row.alone), together = gains.find(row.together);
    if (alone == gains.end() || together == gains.end()) break;
    findings.gains.push_back({row.path, kind_of(row.alone, all), alone->second, together->second});
  }
  for (const Trials::Row& row : trials.functions) {
    const auto alone = gains.find(row.alone);
    if (alone == gains.end()) break;
    findings.function_gains.push_back({row.path, kind_of(row.alone, all), alone->second});
  }
}

}  // namespace

void project_gains(const Run& run, const replay::WaitGraph& graph, Dependences found,
                   const std::vector<std::vector<CallPathId>>& functions, unsigned threads,
                   Budget& budget, Findings& findings) {
  if (!check_whole(findings)) return;
  Trials trials = TrialMaker(run, findings).make(findings, functions);
  if (trials.paths.empty()) return;
  const double least_s = kLeastGain * run.wall().seconds();
  const bool with_progress = needs_progress(findings, least_s);
  const bool worth_it = brings_something(trials, findings, least_s) || with_progress;
  const std::vector<AlterationSet> sets = sets_of(trials, with_progress);
  Alterations all(std::move(trials.alterations), run.callpaths.size(), run.timelines.size());
  Gains gains;
  if (worth_it) {
    Outline outline = outline_run(run, graph, std::move(found), threads);
    all.measure(outline, threads, budget);
    settle_kinds(trials.candidates, all);
    auto together = execute_together(outline, all, sets, budget);
    gains = together ? std::move(*together)
                     : execute_apart(std::move(outline), all, sets, threads, budget);
  } else {
    for (AlterationSet set : sets) gains[set] = 0;
  }
  write_rows(trials, all, gains, findings);
  if (const auto found_gain = gains.find(kWithProgress); found_gain != gains.end()) {
    findings.progress.gain_s = found_gain->second;
  }
}

void GainObserver::at_operations(const Run& run, const blame::Allowance& allowance) {
  allowance_ = allowance;
  try {
    Budget budget(allowance.steps(kMarks, kLeastMarks), allowance.cpu_s());
    found_ = find_dependences(run, threads_, &budget);
    found_->budget = nullptr;
  } catch (const BudgetSpent&) {
  } catch (const std::bad_alloc&) {
  }
}

void GainObserver::at_end(const Run& run, const replay::WaitGraph& graph, Findings& findings) {
  bool done = false;
  try {
    Budget budget(allowance_.steps(kSteps), allowance_.cpu_s());
    if (found_) {
      project_gains(run, graph, std::move(*found_), functions_(findings), threads_, budget,
                    findings);
      done = true;
    }
  } catch (const BudgetSpent&) {
  } catch (const std::bad_alloc&) {
  }
  if (!done) findings.run.notes.push_back(blame::given_up_note({kWhat}));
}

}  // namespace culprit::predict
