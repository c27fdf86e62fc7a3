// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Costs are those of findings, and so is unevenness, which may cost nothing: no event is looked at.
#include "predict/rerun/candidates.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <tuple>

namespace culprit::predict {

namespace {

using blame::Findings;
using blame::FoundDelay;
using replay::Run;

/// A thread number counts as late if it has at least this part of the cost of the costliest one.
constexpr double kLateToo = 0.1;

bool may_change(const Run& run, const Findings& findings, CallPathId path) {
  return !findings.callpaths[path.index()].start_up && is_code(run, path);
}

void add(const FoundDelay& row, GainCandidate& candidate) {
  const double cost_s = row.short_s + row.long_s;
  candidate.cost_s += cost_s;
  candidate.by_path[row.callpath] += cost_s;
  candidate.by_pattern[row.pattern] += cost_s;
  candidate.by_location[row.location] += cost_s;
}

/// All of it is added.
GainCandidate finish(GainCandidate&& candidate) {
  for (const auto& [path, cost_s] : candidate.by_path) candidate.paths.push_back(path);
  std::stable_sort(candidate.paths.begin(), candidate.paths.end(), [&](CallPathId a, CallPathId b) {
    return candidate.by_path[a] > candidate.by_path[b];
  });
  return std::move(candidate);
}

constexpr auto kByCost = [](const GainCandidate& a, const GainCandidate& b) {
  return a.cost_s > b.cost_s;
};

/// Returns the pattern of its costliest waits; "" if it causes none.
std::string_view first_pattern(const GainCandidate& candidate) {
  const auto most =
      std::max_element(candidate.by_pattern.begin(), candidate.by_pattern.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == candidate.by_pattern.end() ? std::string_view() : most->first;
}

/// Whether it is threads of the same process that wait for it.
bool of_threads(const GainCandidate& candidate) {
  const std::string_view pattern = first_pattern(candidate);
  return pattern.starts_with("omp.") || pattern.starts_with("thread.");
}

/// The work of locations at one call path.
struct Work {
  double most_s = 0, sum_s = 0;
  size_t locations = 0;

  void add(double time_s) {
    if (time_s <= 0) return;
    most_s = std::max(most_s, time_s), sum_s += time_s;
    ++locations;
  }
  double mean_s() const { return sum_s / static_cast<double>(locations); }
  /// Returns the largest possible gain; for work of a single location, that of being twice as fast.
  double excess_s() const {
    return locations == 0 ? 0 : locations == 1 ? most_s / 2 : most_s - mean_s();
  }
};

/// Numbers of threads that are late.
std::set<uint32_t> late_threads(const Run& run, const GainCandidate& candidate) {
  std::map<uint32_t, double> costs;
  double most = 0;
  for (const auto& [id, cost_s] : candidate.by_location) {
    double& sum = costs[run.location(id).thread];
    sum += cost_s;
    most = std::max(most, sum);
  }
  std::set<uint32_t> late;
  for (const auto& [thread, cost_s] : costs) {
    if (cost_s >= kLateToo * most) late.insert(thread);
  }
  return late;
}

}  // namespace

WorkTimes::WorkTimes(const Findings& findings) {
  for (const blame::FoundProfile& row : findings.profile) {
    rows_.push_back({row.callpath, row.location, row.time_s});
  }
  for (const blame::FoundWait& row : findings.waits) {
    if (row.pattern != "mpi.polling") rows_.push_back({row.callpath, row.location, -row.time_s});
  }
  const auto key = [](const Row& row) { return std::tie(row.path, row.location); };
  std::stable_sort(rows_.begin(), rows_.end(),
                   [&](const Row& a, const Row& b) { return key(a) < key(b); });
  size_t kept = 0;
  for (const Row& row : rows_) {
    const bool same = kept > 0 && key(rows_[kept - 1]) == key(row);
    same ? void(rows_[kept - 1].time_s += row.time_s) : void(rows_[kept++] = row);
  }
  rows_.resize(kept);
  constexpr double kNanosecond = 1e-9;
  std::erase_if(rows_, [](const Row& row) { return row.time_s < kNanosecond / 2; });
}

std::vector<LocationId> WorkTimes::who_works_at(const std::vector<CallPathId>& paths) const {
  std::vector<LocationId> locations;
  for (CallPathId path : paths) {
    auto row = std::lower_bound(rows_.begin(), rows_.end(), path,
                                [](const Row& r, CallPathId p) { return r.path < p; });
    for (; row != rows_.end() && row->path == path; ++row) locations.push_back(row->location);
  }
  std::sort(locations.begin(), locations.end());
  locations.erase(std::unique(locations.begin(), locations.end()), locations.end());
  return locations;
}

std::vector<GainCandidate> costly_paths(const Run& run, const Findings& findings, double least_s,
                                        size_t most) {
  std::map<CallPathId, GainCandidate> all;
  for (const FoundDelay& row : findings.delays) {
    if (may_change(run, findings, row.callpath)) add(row, all[row.callpath]);
  }
  std::vector<GainCandidate> list;
  for (auto& [path, candidate] : all) {
    if (candidate.cost_s >= least_s) list.push_back(finish(std::move(candidate)));
  }
  std::stable_sort(list.begin(), list.end(), kByCost);
  if (list.size() > most) list.resize(most);
  return list;
}

std::vector<std::vector<GainCandidate>> costly_functions(
    const Run& run, const Findings& findings, const std::vector<std::vector<CallPathId>>& functions,
    double least_s, size_t most) {
  std::map<CallPathId, size_t> function_of;
  for (size_t f = 0; f < functions.size(); ++f) {
    for (CallPathId path : functions[f]) function_of.try_emplace(path, f);
  }
  std::map<std::tuple<size_t, bool>, GainCandidate> halves;
  std::vector<double> costs(functions.size());
  for (const FoundDelay& row : findings.delays) {
    const auto function = function_of.find(row.callpath);
    if (function == function_of.end() || !may_change(run, findings, row.callpath)) continue;
    add(row, halves[{function->second, inside_parallel_region(run, row.callpath)}]);
    costs[function->second] += row.short_s + row.long_s;
  }
  std::vector<size_t> order;
  for (size_t f = 0; f < costs.size(); ++f) {
    if (costs[f] > 0 && costs[f] >= least_s) order.push_back(f);
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return costs[a] > costs[b]; });
  if (order.size() > most) order.resize(most);
  std::vector<std::vector<GainCandidate>> list;
  for (size_t f : order) {
    std::vector<GainCandidate>& parts = list.emplace_back();
    for (bool inside : {false, true}) {
      const auto half = halves.find({f, inside});
      if (half != halves.end()) parts.push_back(finish(std::move(half->second)));
    }
    std::stable_sort(parts.begin(), parts.end(), kByCost);
  }
  return list;
}

std::vector<GainCandidate> uneven_paths(const Run& run, const WorkTimes& times,
                                        const Findings& findings,
                                        const std::vector<GainCandidate>& others, double least_s,
                                        size_t most) {
  std::vector<Work> work(run.callpaths.size());
  for (const WorkTimes::Row& row : times.rows()) {
    if (!run.is_stream(row.location)) work[row.path.index()].add(row.time_s);
  }
  for (const GainCandidate& other : others) {
    for (CallPathId path : other.paths) work[path.index()] = {};
  }
  std::vector<CallPathId> order;
  for (size_t i = 0; i < work.size(); ++i) {
    if (work[i].excess_s() < least_s || !may_change(run, findings, CallPathId(i))) continue;
    order.push_back(CallPathId(i));
  }
  std::stable_sort(order.begin(), order.end(), [&](CallPathId a, CallPathId b) {
    return work[a.index()].excess_s() > work[b.index()].excess_s();
  });
  if (order.size() > most) order.resize(most);
  std::map<CallPathId, GainCandidate> chosen;
  for (CallPathId path : order) chosen[path].paths = {path};
  for (const WorkTimes::Row& row : times.rows()) {
    const auto one = chosen.find(row.path);
    if (one == chosen.end() || run.is_stream(row.location)) continue;
    const double excess_s = row.time_s - work[row.path.index()].mean_s();
    if (excess_s >= 0) one->second.by_location[row.location] = excess_s;
  }
  std::vector<GainCandidate> list;
  for (CallPathId path : order) list.push_back(std::move(chosen[path]));
  return list;
}

LockKind lock_kind(const GainCandidate& candidate) {
  const std::string_view pattern = first_pattern(candidate);
  if (pattern == "thread.lock") return LockKind::awaited;
  for (const std::string_view lock : {"omp.lock", "omp.critical", "omp.atomic", "omp.mutex"}) {
    if (pattern == lock) return LockKind::recorded;
  }
  return LockKind::none;
}

Sharers sharers_of(const Run& run, const Population& all, const WorkTimes& times,
                   const GainCandidate& candidate) {
  std::vector<LocationId> working = times.who_works_at(candidate.paths);
  std::erase_if(working, [&](LocationId id) { return run.is_stream(id); });
  const bool one_process = run.definitions->processes.size() == 1;
  if (one_process || of_threads(candidate)) return sharers_of(run, all, working, Over::threads);
  if (inside_parallel_region(run, candidate.paths.front())) {
    return sharers_of(run, all, working, Over::all);
  }
  const std::set<uint32_t> late = late_threads(run, candidate);
  std::erase_if(working, [&](LocationId id) { return !late.contains(run.location(id).thread); });
  return sharers_of(run, all, working, Over::ranks);
}

}  // namespace culprit::predict
