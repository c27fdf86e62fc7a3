// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Candidates are the call paths and functions whose delays cost most, and call paths that are so
// uneven that they may stand behind these. A run with a change lasts at least as long as the
// recorded critical path does with it, so a gain is no more than what the change takes off that
// path: where that is next to nothing, nothing is executed. All others are executed in one walk;
// where that cannot be, the first few one by one. Where several ranks analyse the run, the first
// has the findings and decides what is tried, and all walk.
#include "predict/rerun/gains.h"

#include <algorithm>
#include <bit>
#include <iterator>
#include <map>
#include <new>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "base/parallel.h"
#include "base/ranks/agree.h"
#include "base/ranks/exchange.h"
#include "predict/rerun/alterations.h"
#include "predict/rerun/candidates.h"
#include "predict/rerun/lanes.h"
#include "predict/rerun/ranks/gather_graph.h"
#include "predict/rerun/share/measure_work.h"
#include "predict/rerun/whole_run.h"
#include "trace/pseudo_regions.h"

namespace culprit::predict {

namespace {

using blame::Findings;
using blame::GainKind;
using replay::Run;

constexpr size_t kPaths = 6, kUneven = 2, kFunctions = 4;
constexpr size_t kWays = 2;      ///< that each is tried in
constexpr size_t kTogether = 4;  ///< of the first paths; each such set is spread evenly as one
static_assert(kWays * (kPaths + kUneven + 2 * kFunctions) + 3 * (kTogether - 1) <=
              kMostAlterations);
static_assert(1 + kWays * (kPaths + kUneven + kFunctions) + kTogether <= kMostLanes);
/// Where each change is an execution of its own.
constexpr size_t kMostExecutions = 4;

/// For each event that was read. Marks of dependences, with what belongs to them, take some 40
/// bytes each; about one for each three events is usual. Steps are one or two in each of a few
/// walks.
constexpr uint64_t kMarks = 2, kLeastMarks = 1'000'000, kSteps = 64;
constexpr std::string_view kWhat =
    "how much shorter the run would be without the costliest delays (culprit whatif tries changes)";
constexpr std::string_view kSomeLeft =
    "how much shorter the run would be without some of the costly delays, since threads waited for "
    "locks: each change is an execution of its own then (culprit whatif tries more)";

/// Of the run: what costs less, or is less uneven, is not worth a try, nor is what brings less.
constexpr double kLeastCost = 0.005, kLeastExcess = 0.01, kLeastGain = 0.005;
/// Of the run: what brings less is hardly shorter, and another way is said, if it brings more.
constexpr double kHardly = 0.01;
/// ... and what brings less than this part of what halving it would, is not what to do about it.
constexpr double kLittle = 0.25;

/// What is tried: rows of findings, and the alterations that each makes.
struct Trials {
  struct Row {
    CallPathId path;  ///< that it is named after
    /// Spread evenly, or holding locks for less time, where that can be; twice as fast.
    AlterationSet spread = 0, halved = 0;
    AlterationSet together = 0;  ///< with all rows before, spread evenly where that can be
  };
  std::vector<Row> paths, functions;
  std::vector<Alteration> alterations;
};

class TrialMaker {
 public:
  TrialMaker(const Run& run, const Population& all, const Findings& findings)
      : run_(run), all_(all), work_(findings) {}

  Trials make(const Findings& findings, const std::vector<std::vector<CallPathId>>& functions) {
    const double wall_s = run_.wall().seconds(), least_s = kLeastCost * wall_s;
    std::vector<GainCandidate> paths = costly_paths(run_, findings, least_s, kPaths);
    if (paths.empty()) return {};
    auto uneven = uneven_paths(run_, work_, findings, paths, kLeastExcess * wall_s, kUneven);
    std::move(uneven.begin(), uneven.end(), std::back_inserter(paths));
    for (GainCandidate& path : paths) {
      Trials::Row& row = trials_.paths.emplace_back();
      row.path = path.paths.front();
      add(std::move(path), row);
    }
    for (auto& parts : costly_functions(run_, findings, functions, least_s, kFunctions)) {
      Trials::Row& row = trials_.functions.emplace_back();
      row.path = parts.front().paths.front();
      for (GainCandidate& part : parts) add(std::move(part), row);
    }
    for (size_t k = 1; k < std::min(kTogether, trials_.paths.size()); ++k) add_together(k);
    return std::move(trials_);
  }

 private:
  /// What has been tried already.
  struct Known {
    std::set<CallPathId> paths;
    double cost_s;
    AlterationSet spread, halved;
  };

  /// A function that has one costly call path is the same as this.
  void add(GainCandidate candidate, Trials::Row& row) {
    std::set<CallPathId> paths(candidate.paths.begin(), candidate.paths.end());
    auto known = std::find_if(known_.begin(), known_.end(), [&](const Known& other) {
      return other.cost_s == candidate.cost_s && paths == other.paths;
    });
    if (known == known_.end()) {
      const LockKind lock = lock_kind(candidate);
      Alteration change{candidate.paths, Way::held, {}, {}, lock == LockKind::recorded};
      if (lock == LockKind::none && is_blocked(candidate)) {
        change.way = Way::halved;
      } else if (lock == LockKind::none) {
        change.way = Way::balanced;
        change.sharers = sharers_of(run_, all_, work_, candidate);
      }
      const AlterationSet spread = add(std::move(change));
      const AlterationSet halved = add({candidate.paths, Way::halved, {}, {}});
      known = known_.insert(known_.end(), {std::move(paths), candidate.cost_s, spread, halved});
    }
    row.spread |= known->spread;
    row.halved |= known->halved;
  }
  /// Whether it only waits for something outside of the run: others cannot take over a share of
  /// that.
  bool is_blocked(const GainCandidate& candidate) const {
    return std::all_of(candidate.paths.begin(), candidate.paths.end(), [&](CallPathId path) {
      const RegionId region = run_.callpaths[path].region;
      if (!region.valid()) return false;
      const trace::Pseudo kind = trace::pseudo_of(run_.regions[region.index()].name);
      return kind == trace::Pseudo::blocked_in || kind == trace::Pseudo::blocked_unknown;
    });
  }
  /// What is spread over the same is one: who takes over some of one does not take as much of the
  /// other.
  void add_together(size_t last) {
    AlterationSet& set = trials_.paths[last].together;
    std::map<Over, Alteration> joint;
    for (size_t k = 0; k <= last; ++k) {
      const AlterationSet own = trials_.paths[k].spread;
      const Alteration& one = trials_.alterations[std::countr_zero(own)];
      if (one.way != Way::balanced) {
        set |= own;
        continue;
      }
      Alteration& all = joint[one.sharers.over];
      all.way = Way::balanced;
      all.sharers.over = one.sharers.over;
      all.paths.insert(all.paths.end(), one.paths.begin(), one.paths.end());
      std::vector<LocationId> members;
      std::set_union(all.sharers.members.begin(), all.sharers.members.end(),
                     one.sharers.members.begin(), one.sharers.members.end(),
                     std::back_inserter(members));
      all.sharers.members = std::move(members);
    }
    for (auto& [over, all] : joint) set |= add(std::move(all));
  }
  AlterationSet add(Alteration alteration) {
    trials_.alterations.push_back(std::move(alteration));
    return AlterationSet{1} << (trials_.alterations.size() - 1);
  }

  const Run& run_;
  const Population& all_;
  const WorkTimes work_;
  std::vector<Known> known_;
  Trials trials_;
};

/// By alteration: what it takes off the recorded critical path at most.
std::vector<double> most_gains(const Findings& findings, const Alterations& all) {
  std::map<CallPathId, double> critical_s;
  for (const blame::FoundCriticalPath& row : findings.critical_path) {
    critical_s[row.callpath] += row.time_s;
  }
  std::vector<double> most;
  for (size_t a = 0; a < all.size(); ++a) {
    double sum_s = 0;
    for (CallPathId path : all[a].paths) {
      const auto found = critical_s.find(path);
      if (found != critical_s.end()) sum_s += found->second;
    }
    most.push_back(all[a].way == Way::balanced ? sum_s : sum_s / 2);
  }
  return most;
}

double sum_of(AlterationSet set, const std::vector<double>& values) {
  double sum = 0;
  for (size_t a = 0; a < values.size(); ++a) sum += (set >> a & 1) != 0 ? values[a] : 0;
  return sum;
}

bool brings_something(const Trials& trials, const std::vector<double>& most, double least_s) {
  const auto is_worth_it = [&](const Trials::Row& row) {
    return sum_of(row.spread | row.halved | row.together, most) >= least_s;
  };
  return std::any_of(trials.paths.begin(), trials.paths.end(), is_worth_it) ||
         std::any_of(trials.functions.begin(), trials.functions.end(), is_worth_it);
}

/// Once it is known what spreading evenly makes phases shorter: that it cannot bring more.
void bound_spread(const Alterations& all, std::vector<double>& most) {
  for (size_t a = 0; a < all.size(); ++a) {
    if (all[a].way == Way::balanced) most[a] = std::min(most[a], all[a].spread.saves_s);
  }
}

/// Those parts of functions that cannot be spread are twice as fast instead, if others can. Ways of
/// one candidate follow each other.
void settle_functions(const std::vector<double>& most, double least_s, Trials& trials) {
  for (Trials::Row& row : trials.functions) {
    if (std::popcount(row.spread) < 2 || sum_of(row.spread, most) < least_s) continue;
    for (AlterationSet left = row.spread; left != 0; left &= left - 1) {
      const AlterationSet part = left & (~left + 1);
      if (sum_of(part, most) < least_s) row.spread = (row.spread & ~part) | part << 1;
    }
  }
}

/// The gain of the run, by set of alterations.
using Gains = std::map<AlterationSet, double>;

/// In the order of their worth; none that can bring next to nothing.
std::vector<AlterationSet> sets_of(const Trials& trials, const std::vector<double>& most,
                                   double least_s, bool with_progress) {
  std::vector<AlterationSet> sets;
  const auto add = [&](AlterationSet set) {
    if (sum_of(set, most) < least_s) return;
    if (std::find(sets.begin(), sets.end(), set) == sets.end()) sets.push_back(set);
  };
  const auto add_row = [&](const Trials::Row& row) { add(row.spread), add(row.halved); };
  if (!trials.functions.empty()) add_row(trials.functions.front());
  if (with_progress) sets.push_back(kWithProgress);
  for (const Trials::Row& row : trials.paths) {
    add_row(row);
    if (row.together != 0) add(row.together);
  }
  for (const Trials::Row& row : trials.functions) add_row(row);
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
  const auto whole = gather_graph(std::move(outline), all, sets, threads);
  if (!whole) return {};
  const EventGraph& graph = whole->graph;
  const LockChoice unchanged = choose_lock_order(graph, &budget);
  std::vector<double> gains(sets.size());
  parallel_for(sets.size(), threads, [&](size_t i) {
    OtherTimes own;
    if (whole->times.empty()) own = times_with(all, sets[i], graph);
    Pace pace;
    pace.budget = &budget;
    pace.locks = unchanged.order;
    pace.with_progress = (sets[i] & kWithProgress) != 0;
    for (const auto& other : whole->times.empty() ? own : whole->times[i]) {
      pace.times.push_back(other.get());
    }
    gains[i] = (unchanged.wall - execute(graph, pace, Keep::ends).wall(graph)).seconds();
  });
  Gains found;
  for (size_t i = 0; i < sets.size(); ++i) found[sets[i]] = gains[i];
  return found;
}

GainKind kind_of(AlterationSet set, const Alterations& all) {
  std::set<GainKind> kinds;
  for (size_t a = 0; a < all.size(); ++a) {
    if ((set >> a & 1) == 0) continue;
    const Alteration& each = all[a];
    const bool earlier = each.spread.earlier_s > each.spread.saves_s / 2;
    kinds.insert(each.way == Way::halved ? GainKind::halved
                 : each.way == Way::held ? GainKind::held
                 : earlier               ? GainKind::earlier
                                         : GainKind::balanced);
  }
  return kinds.size() == 1 ? *kinds.begin() : GainKind::mixed;
}

/// Returns whether waits for progress were long enough to make a try worthwhile.
bool needs_progress(const Findings& findings, double least_s) {
  double sum_s = 0;
  for (const blame::FoundWait& row : findings.waits) {
    if (row.pattern == "mpi.progress") sum_s += row.time_s;
  }
  return sum_s >= least_s;
}

class RowWriter {
 public:
  RowWriter(const Alterations& all, const Gains& gains, const std::vector<double>& most,
            double wall_s)
      : all_(all), gains_(gains), most_(most), wall_s_(wall_s) {}

  /// The best way that is no cheat: making code faster is always possible, on paper.
  struct Best {
    GainKind kind;
    double gain_s, halved_s;
  };
  std::optional<Best> best(const Trials::Row& row) const {
    const auto spread = gain(row.spread), halved = gain(row.halved);
    if (!spread || !halved) return std::nullopt;
    if (*spread < std::max(kHardly * wall_s_, kLittle * *halved) && *halved > *spread) {
      return Best{kind_of(row.halved, all_), *halved, *halved};
    }
    return Best{kind_of(row.spread, all_), *spread, *halved};
  }

  /// None: it was not executed, although it might bring something.
  std::optional<double> gain(AlterationSet set) const {
    const auto found = gains_.find(set);
    if (found != gains_.end()) return found->second;
    if (sum_of(set, most_) < kLeastGain * wall_s_) return 0;
    return std::nullopt;
  }

 private:
  const Alterations& all_;
  const Gains& gains_;
  const std::vector<double>& most_;
  const double wall_s_;
};

/// Up to the first whose gain is not known; how many are left out.
size_t write_rows(const Trials& trials, const RowWriter& writer, Findings& findings) {
  size_t left_out = 0;
  double together_s = 0;
  for (const Trials::Row& row : trials.paths) {
    const auto best = writer.best(row);
    const auto together = row.together == 0 ? together_s : writer.gain(row.together);
    if (!best || !together || left_out > 0) {
      ++left_out;
      continue;
    }
    together_s = findings.gains.empty() ? best->gain_s : *together;
    findings.gains.push_back({row.path, best->kind, best->gain_s, together_s, best->halved_s});
  }
  for (const Trials::Row& row : trials.functions) {
    const auto best = writer.best(row);
    if (!best) {
      ++left_out;
      continue;
    }
    findings.function_gains.push_back({row.path, best->kind, best->gain_s, best->halved_s});
  }
  return left_out;
}

/// What the first rank wants to try, on all ranks, each with its own locations as members.
/// Collective.
Alterations share_alterations(const Run& run, std::vector<Alteration> of_first) {
  std::vector<Packer> to(run.ranks->size());
  for (const Alteration& one : of_first) {
    std::vector<std::vector<LocationId>> members(to.size());
    for (LocationId id : one.sharers.members) members[run.owner(id)].push_back(id);
    for (size_t r = 0; r < to.size(); ++r) {
      to[r].put_list(std::span<const CallPathId>(one.paths));
      to[r].put(one.way);
      to[r].put(one.locks_recorded);
      to[r].put(one.sharers.over);
      to[r].put_list(std::span<const LocationId>(members[r]));
    }
  }
  const std::vector<Parcel> parcels = exchange(*run.ranks, std::move(to));
  std::vector<Alteration> list;
  for (Unpacker unpacker(parcels[0]); !unpacker.done();) {
    Alteration& one = list.emplace_back();
    one.paths = unpacker.get_list<CallPathId>();
    one.way = unpacker.get<Way>();
    one.locks_recorded = unpacker.get<bool>();
    one.sharers.over = unpacker.get<Over>();
    one.sharers.members = unpacker.get_list<LocationId>();
  }
  return Alterations(std::move(list), run.callpaths.size(), run.timelines.size());
}

/// Collective.
std::vector<AlterationSet> share_sets(Transport& ranks,
                                      const std::vector<AlterationSet>& of_first) {
  Packer packer;
  packer.put_list(std::span<const AlterationSet>(of_first));
  return Unpacker(share_of_first(ranks, packer.take())).get_list<AlterationSet>();
}

}  // namespace

void project_gains(const Run& run, const replay::WaitGraph& graph, Dependences found,
                   const std::vector<std::vector<CallPathId>>& functions, unsigned threads,
                   Budget& budget, Findings& findings) {
  Transport& ranks = *run.ranks;
  const bool decides = ranks.rank() == 0;
  const Population everyone = population_of(run);
  Trials trials;
  if (decides && check_whole(findings)) {
    trials = TrialMaker(run, everyone, findings).make(findings, functions);
  }
  if (!any(ranks, !trials.paths.empty())) return;
  const double least_s = kLeastGain * run.wall().seconds();
  const bool with_progress = decides && needs_progress(findings, least_s);
  Alterations all = share_alterations(run, std::move(trials.alterations));
  std::vector<double> most = most_gains(findings, all);
  Gains gains;
  if (any(ranks, brings_something(trials, most, least_s) || with_progress)) {
    Outline outline = outline_run(run, graph, std::move(found), threads);
    measure(outline, threads, budget, all);
    bound_spread(all, most);
    settle_functions(most, least_s, trials);
    const std::vector<AlterationSet> sets =
        share_sets(ranks, sets_of(trials, most, least_s, with_progress));
    auto together = execute_together(outline, all, sets, budget);
    gains = together ? std::move(*together)
                     : execute_apart(std::move(outline), all, sets, threads, budget);
  }
  if (!decides) return;
  const size_t left_out =
      write_rows(trials, RowWriter(all, gains, most, run.wall().seconds()), findings);
  if (left_out > 0) findings.run.notes.push_back(blame::given_up_note({kSomeLeft}));
  if (const auto found_gain = gains.find(kWithProgress); found_gain != gains.end()) {
    findings.progress.gain_s = found_gain->second;
  }
}

void GainObserver::at_operations(const Run& run, const blame::Allowance& allowance) {
  allowance_ = allowance;
  try {
    Budget budget(allowance.steps(kMarks, kLeastMarks), allowance.cpu_s());
    found_ = find_dependences(run, threads_, &budget);
  } catch (const BudgetSpent&) {
  } catch (const std::bad_alloc&) {
    if (!run.ranks->alone()) throw;  // others wait for this one
  }
}

void GainObserver::at_end(const Run& run, const replay::WaitGraph& graph, Findings& findings) {
  bool done = false;
  try {
    Budget budget(allowance_.steps(kSteps), allowance_.cpu_s());
    if (found_) {
      std::vector<std::vector<CallPathId>> functions;
      if (run.ranks->rank() == 0) functions = functions_(findings);
      project_gains(run, graph, std::move(*found_), functions, threads_, budget, findings);
      done = true;
    }
  } catch (const BudgetSpent&) {
  } catch (const std::bad_alloc&) {
    if (!run.ranks->alone()) throw;
  }
  if (!done) findings.run.notes.push_back(blame::given_up_note({kWhat}));
}

}  // namespace culprit::predict
