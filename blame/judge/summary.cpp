// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// See summary.h. Groups keep the order in which they are first met until they are sorted by time;
// the sort is stable, so equal findings always make the same page.

#include "blame/judge/summary.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/cores/core_counter.h"
#include "blame/findings/path_meaning.h"
#include "blame/judge/functions.h"
#include "blame/profile/start_up.h"
#include "trace/pseudo_regions.h"

namespace culprit::blame {
namespace {

/// Returns the group of `key`; a new one on first use.
template <class Key, class Group>
class Groups {
 public:
  Group& at(const Key& key) {
    const auto [it, added] = index_.try_emplace(key, groups_.size());
    if (added) groups_.emplace_back();
    return groups_[it->second];
  }
  Group* find(const Key& key) {
    const auto it = index_.find(key);
    return it == index_.end() ? nullptr : &groups_[it->second];
  }
  template <class Size>
  std::vector<Group> largest_first(Size size) && {
    std::stable_sort(groups_.begin(), groups_.end(),
                     [&](const Group& a, const Group& b) { return size(a) > size(b); });
    return std::move(groups_);
  }

 private:
  std::map<Key, size_t> index_;
  std::vector<Group> groups_;
};

/// Joins the shares of one location and puts the largest first. Rows come one per location and
/// pattern, of which there may be many: they are gathered first and joined once.
void settle(std::vector<Share>& shares) {
  std::sort(shares.begin(), shares.end(),
            [](const Share& a, const Share& b) { return a.location < b.location; });
  size_t kept = 0;
  for (const Share& share : shares) {
    if (kept > 0 && shares[kept - 1].location == share.location) {
      shares[kept - 1].time_s += share.time_s;
    } else {
      shares[kept++] = share;
    }
  }
  shares.resize(kept);
  std::stable_sort(shares.begin(), shares.end(),
                   [](const Share& a, const Share& b) { return a.time_s > b.time_s; });
}

using PatternAndPath = std::pair<std::string, CallPathId>;

void add_effect(std::vector<Effect>& effects, const FoundDelay& delay) {
  auto known = std::find_if(effects.begin(), effects.end(),
                            [&](const Effect& each) { return each.pattern == delay.pattern; });
  if (known == effects.end()) known = effects.insert(known, {delay.pattern, 0, 0});
  known->short_s += delay.short_s;
  known->long_s += delay.long_s;
}

/// The victims of each delaying call path.
std::map<CallPathId, std::vector<VictimGroup>> victims_by_delay(const Findings& findings) {
  std::map<CallPathId, Groups<PatternAndPath, VictimGroup>> groups;
  for (const FoundVictim& v : findings.victims) {
    if (is_of_start_up(findings, v.delay_callpath, v.pattern)) continue;
    VictimGroup& group = groups[v.delay_callpath].at({v.pattern, v.wait_callpath});
    group.pattern = v.pattern;
    group.callpath = v.wait_callpath;
    group.time_s += v.time_s;
    group.shares.push_back({v.wait_location, v.time_s});
  }
  std::map<CallPathId, std::vector<VictimGroup>> sorted;
  for (auto& [path, of_path] : groups) {
    auto& list = sorted[path] =
        std::move(of_path).largest_first([](const VictimGroup& g) { return g.time_s; });
    for (VictimGroup& group : list) settle(group.shares);
  }
  return sorted;
}

}  // namespace

std::vector<Blamed> blamed(const Findings& findings) {
  Groups<CallPathId, Blamed> groups;
  for (const FoundDelay& d : findings.delays) {
    if (is_of_start_up(findings, d)) continue;
    Blamed& group = groups.at(d.callpath);
    group.callpath = d.callpath;
    group.short_s += d.short_s;
    group.long_s += d.long_s;
    group.shares.push_back({d.location, d.short_s + d.long_s});
    add_effect(group.effects, d);
  }
  for (auto& [path, victims] : victims_by_delay(findings)) {
    if (Blamed* group = groups.find(path)) group->victims = std::move(victims);
  }
  auto list = std::move(groups).largest_first([](const Blamed& b) { return b.cost_s(); });
  for (Blamed& group : list) {
    settle(group.shares);
    std::stable_sort(group.effects.begin(), group.effects.end(),
                     [](const Effect& a, const Effect& b) { return a.cost_s() > b.cost_s(); });
  }
  return list;
}

std::vector<PatternSum> suffered(const Findings& findings) {
  Groups<PatternAndPath, PatternSum> groups;
  for (const FoundWait& w : findings.waits) {
    PatternSum& group = groups.at({w.pattern, w.callpath});
    group.pattern = w.pattern;
    group.callpath = w.callpath;
    group.count += w.count;
    group.time_s += w.time_s;
    group.shares.push_back({w.location, w.time_s});
  }
  auto list = std::move(groups).largest_first([](const PatternSum& s) { return s.time_s; });
  for (PatternSum& group : list) settle(group.shares);
  return list;
}

std::vector<OnCriticalPath> on_critical_path(const Findings& findings) {
  Groups<CallPathId, OnCriticalPath> groups;
  for (const FoundCriticalCallPath& c : findings.critical_callpaths) {
    OnCriticalPath& group = groups.at(c.callpath);
    group.callpath = c.callpath;
    group.time_s += c.time_s;
    group.imbalance_s += c.imbalance_s;
  }
  for (const FoundCriticalPath& c : findings.critical_path) {
    if (OnCriticalPath* group = groups.find(c.callpath)) {
      group->shares.push_back({c.location, c.time_s});
    }
  }
  auto list = std::move(groups).largest_first([](const OnCriticalPath& c) { return c.time_s; });
  for (OnCriticalPath& group : list) settle(group.shares);
  return list;
}

namespace {

/// The largest part of a function comes first, so that it is the example.
std::vector<FunctionTime> by_function(const Findings& findings,
                                      const std::map<CallPathId, double>& by_path) {
  std::vector<std::pair<CallPathId, double>> paths(by_path.begin(), by_path.end());
  std::stable_sort(paths.begin(), paths.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  const Functions functions(findings);
  Groups<FunctionNumber, FunctionTime> groups;
  for (const auto& [path, time_s] : paths) {
    FunctionTime& group = groups.at(functions.of(path));
    if (!group.example.valid()) group.example = path;
    group.time_s += time_s;
  }
  auto list = std::move(groups).largest_first([](const FunctionTime& f) { return f.time_s; });
  // A part gives its name to the whole if it is most of it.
  for (FunctionTime& each : list) {
    if (by_path.at(each.example) < each.time_s / 2) {
      each.example = functions.own_path(each.example);
    }
  }
  return list;
}

}  // namespace

std::vector<FunctionTime> critical_functions(const Findings& findings) {
  std::map<CallPathId, double> by_path;
  for (const FoundCriticalCallPath& row : findings.critical_callpaths) {
    if (findings.callpaths[row.callpath.index()].start_up) continue;
    by_path[row.callpath] += row.time_s;
  }
  return by_function(findings, by_path);
}

std::vector<FunctionTime> busy_functions(const Findings& findings) {
  std::map<CallPathId, double> by_path;
  const auto counts = [&](CallPathId path) {
    if (!path.valid()) return false;
    const FoundCallPath& at = findings.callpaths[path.index()];
    return !at.start_up && !is_of(at, trace::Paradigm::mpi) &&
           !is_of(at, trace::Paradigm::openmp) &&
           (at.parent.valid() || trace::pseudo_region(at.region) == nullptr);
  };
  for (const FoundProfile& row : findings.profile) {
    if (counts(row.callpath)) by_path[row.callpath] += row.time_s;
  }
  for (const FoundWait& row : findings.waits) {
    if (counts(row.callpath)) by_path[row.callpath] -= row.time_s;
  }
  return by_function(findings, by_path);
}

/// Every metric is read at the same moments: the longest of their times is that of all.
std::vector<CountedPath> counted_paths(const Findings& findings) {
  std::map<std::pair<CallPathId, LocationId>, double> times;
  Groups<CallPathId, CountedPath> groups;
  for (const FoundCount& row : findings.counts) {
    // This counter is shown in the section on cores.
    if (findings.metrics[row.metric.index()].name == kNoCoreCounter) continue;
    CountedPath& group = groups.at(row.callpath);
    group.callpath = row.callpath;
    group.values.resize(findings.metrics.size());
    double& value = group.values[row.metric.index()];
    value =
        findings.metrics[row.metric.index()].level ? std::max(value, row.value) : value + row.value;
    double& time = times[{row.callpath, row.location}];
    group.time_s += std::max(time, row.time_s) - time;
    time = std::max(time, row.time_s);
  }
  return std::move(groups).largest_first([](const CountedPath& path) { return path.time_s; });
}

bool is_of_profile_alone(const Findings& findings) {
  if (findings.coverage.empty()) return false;
  const FoundCoverage& row = findings.coverage.front();
  return row.whole_s <= 0 && row.windows == 0;
}

bool lacks_waits_of_mpi(const Findings& findings) {
  const auto is_of_mpi = [](const FoundCallPath& path) {
    return is_of(path, trace::Paradigm::mpi) && !path.start_up;
  };
  return is_of_profile_alone(findings) &&
         std::any_of(findings.callpaths.begin(), findings.callpaths.end(), is_of_mpi);
}

std::vector<IdleTotal> idle_totals(const Findings& findings) {
  using Reason = std::optional<NobodyReason>;
  Groups<std::pair<CallPathId, Reason>, IdleTotal> groups;
  const auto add = [&](CallPathId callpath, Reason reason, double time_s) {
    IdleTotal& group = groups.at({callpath, reason});
    group.callpath = callpath;
    group.reason = reason;
    group.time_s += time_s;
  };
  for (const FoundIdleBlame& row : findings.idle_blame) add(row.callpath, {}, row.time_s);
  for (const FoundNobody& row : findings.idle_nobody) add({}, row.reason, row.time_s);
  return std::move(groups).largest_first([](const IdleTotal& t) { return t.time_s; });
}

std::vector<PatternTotal> waiting_by_pattern(const Findings& findings) {
  Groups<std::string, PatternTotal> groups;
  for (const FoundWait& w : findings.waits) {
    PatternTotal& group = groups.at(w.pattern);
    group.pattern = w.pattern;
    group.time_s += w.time_s;
  }
  return std::move(groups).largest_first([](const PatternTotal& t) { return t.time_s; });
}

}  // namespace culprit::blame
