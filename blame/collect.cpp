// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "blame/collect.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "blame/short_segments.h"

namespace culprit::blame {

namespace {

using replay::Wait;

constexpr size_t kDelaysWithVictims = 50;

template <class Row, class Key>
void largest_first(std::vector<Row>& rows, const Key& key) {
  std::stable_sort(rows.begin(), rows.end(),
                   [&](const Row& a, const Row& b) { return key(a) > key(b); });
}

class Collector {
 public:
  Collector(const replay::Run& run, const replay::WaitGraph& graph, const Explanations& all)
      : run_(run), graph_(graph), all_(all) {}

  Findings collect() {
    describe_run();
    add_locations();
    add_callpaths();
    add_waits();
    add_polling();
    add_delays();
    add_victims();
    add_critical_path();
    add_profile();
    add_counts();
    sum_identities();
    found_.losses = run_.losses;
    return std::move(found_);
  }

 private:
  static std::string id(replay::Pattern pattern) { return std::string(replay::text(pattern).id); }

  void describe_run() {
    const trace::Definitions& defs = *run_.definitions;
    std::vector<bool> has_events(defs.processes.size());
    for (LocationId l : run_.locations) has_events[run_.location(l).process.index()] = true;
    found_.run.ranks =
        static_cast<uint32_t>(std::count(has_events.begin(), has_events.end(), true));
    found_.run.locations = static_cast<uint32_t>(run_.locations.size());
    found_.run.events = run_.events;
    found_.run.wall_s = run_.wall().seconds();
    found_.run.allocation_s = run_.wall().seconds() * static_cast<double>(run_.locations.size());
    found_.run.creator = defs.creator;
    found_.run.command = defs.program;
  }

  void add_locations() {
    for (size_t i = 0; i < run_.timelines.size(); ++i) {
      const trace::Location& location = run_.definitions->locations[i];
      const trace::Process& process = run_.definitions->processes[location.process.index()];
      FoundLocation& row = found_.locations.emplace_back();
      row.rank = process.rank;
      row.thread = location.thread;
      row.name = std::to_string(row.rank) + "." + std::to_string(row.thread);
      row.node = process.node;
      row.life_s = run_.timelines[i].empty() ? 0 : run_.wall().seconds();
      for (const Wait& wait : graph_.waits[i]) row.waiting_s += wait.amount.seconds();
    }
  }

  void add_callpaths() {
    for (size_t i = 0; i < run_.callpaths.size(); ++i) {
      const CallPathId path(i);
      const trace::Region& region = run_.regions[run_.callpaths[path].region.index()];
      found_.callpaths.push_back(
          {run_.callpaths.name(path, run_.regions), region.name, region.file, region.line});
    }
  }

  void add_waits() {
    for (LocationId location : run_.locations) {
      std::map<std::pair<replay::Pattern, CallPathId>, size_t> row_of;
      const Column<Wait>& waits = graph_.waits[location.index()];
      for (size_t w = 0; w < waits.size(); ++w) {
        const Wait& wait = waits[w];
        const auto [it, fresh] = row_of.try_emplace({wait.pattern, wait.path}, found_.waits.size());
        if (fresh) found_.waits.push_back({id(wait.pattern), wait.path, location});
        FoundWait& row = found_.waits[it->second];
        const WaitCause& cause = all_.delays.causes[location.index()][w];
        ++row.count;
        row.time_s += wait.amount.seconds();
        row.indirect_s += cause.indirect_s(wait.amount);
        row.propagating_s += cause.propagating_s;
      }
    }
    largest_first(found_.waits, [](const FoundWait& row) { return row.time_s; });
  }

  void add_polling() {
    for (LocationId location : run_.locations) {
      std::map<CallPathId, FoundPolling> rows;
      for (const replay::Polling& polling : graph_.pollings[location.index()]) {
        FoundPolling& row =
            rows.try_emplace(polling.path, FoundPolling{polling.path, location}).first->second;
        ++row.count;
        row.time_s += (polling.end - polling.begin).seconds();
      }
      for (const auto& [path, row] : rows) found_.polling.push_back(row);
    }
    largest_first(found_.polling, [](const FoundPolling& row) { return row.time_s; });
  }

  void add_delays() {
    for (const DelayCost& cost : all_.delays.costs) {
      found_.delays.push_back(
          {id(cost.pattern), cost.path, cost.location, cost.short_s, cost.long_s});
    }
    largest_first(found_.delays, [](const FoundDelay& row) { return row.short_s + row.long_s; });
    for (const UnattributedCost& cost : all_.delays.unattributed) {
      found_.unattributed.push_back(
          {id(cost.pattern), "the late side did no more than the waiting one since they met last",
           cost.time_s});
    }
  }

  /// For the delays that cost most: who waited for them.
  void add_victims() {
    std::map<LocationId, std::set<CallPathId>> top;
    size_t chosen = 0;
    for (const FoundDelay& delay : found_.delays) {
      if (chosen >= kDelaysWithVictims) break;
      chosen += top[delay.location].insert(delay.callpath).second;
    }
    std::vector<bool> is_top(run_.callpaths.size());
    using Key = std::tuple<LocationId, CallPathId, replay::Pattern, CallPathId, LocationId>;
    std::map<Key, double> victims;
    for (const auto& [late, paths] : top) {
      is_top.assign(run_.callpaths.size(), false);
      for (CallPathId path : paths) is_top[path.index()] = true;
      const Column<Excess>& excess = all_.delays.excess[late.index()];
      for (WaitRef ref : all_.delays.caused[late.index()]) {
        const Wait& wait = graph_.waits[ref.location.index()][ref.wait];
        const WaitCause& cause = all_.delays.causes[ref.location.index()][ref.wait];
        for (uint32_t e = cause.first_excess; e < cause.end_excess; ++e) {
          if (!is_top[excess[e].path().index()]) continue;
          victims[{late, excess[e].path(), wait.pattern, wait.path, ref.location}] +=
              excess[e].time().seconds() / cause.denominator_s * wait.amount.seconds();
        }
      }
    }
    for (const auto& [key, time] : victims) {
      const auto& [late, path, pattern, wait_path, waiter] = key;
      found_.victims.push_back({path, late, id(pattern), wait_path, waiter, time});
    }
    largest_first(found_.victims, [](const FoundVictim& row) { return row.time_s; });
  }

  void add_critical_path() {
    for (const CriticalCallPath& row : all_.critical.callpaths) {
      found_.critical_callpaths.push_back({row.path, row.on_path.seconds(), row.imbalance_s,
                                           row.activity_s, row.intra_s, row.inter_s,
                                           row.activity_s + row.intra_s + row.inter_s});
    }
    largest_first(found_.critical_callpaths,
                  [](const FoundCriticalCallPath& row) { return row.time_s; });
    for (const CriticalPlace& row : all_.path.places) {
      found_.critical_path.push_back({row.path, row.location, row.on_path.seconds()});
    }
    largest_first(found_.critical_path, [](const FoundCriticalPath& row) { return row.time_s; });
    for (const PathSegment& segment : join_short_segments(all_.path.segments, kMostSegments)) {
      found_.segments.push_back({segment.location, segment.path,
                                 (segment.begin - run_.begin).seconds(),
                                 (segment.end - run_.begin).seconds()});
    }
  }

  void add_profile() {
    for (LocationId location : run_.locations) {
      std::map<CallPathId, double> time;
      for (const PathTime& entry : all_.profiles[location.index()]) {
        time[entry.path] += entry.time.seconds();
      }
      for (const Wait& wait : graph_.waits[location.index()]) {
        time[wait.path] += wait.amount.seconds();
      }
      const std::vector<uint64_t>& visits = run_.visits[location.index()];
      for (const auto& [path, seconds] : time) {
        const uint64_t count = path.index() < visits.size() ? visits[path.index()] : 0;
        found_.profile.push_back({path, location, count, seconds});
      }
    }
    largest_first(found_.profile, [](const FoundProfile& row) { return row.time_s; });
  }

  /// Two paths of a location may have become one (threads outside of everything).
  void add_counts() {
    for (const trace::Metric& metric : run_.definitions->metrics) {
      found_.metrics.push_back({metric.name, metric.unit, metric.mode == trace::MetricMode::level});
    }
    for (LocationId location : run_.locations) {
      replay::Counts counts;
      for (const replay::Count& count : run_.at(location).counts) {
        counts.add(count, *run_.definitions);
      }
      for (const replay::Count& count : counts.take()) {
        if (count.value == 0) continue;
        found_.counts.push_back(
            {count.metric, count.path, location, count.value, count.time.seconds()});
      }
    }
    largest_first(found_.counts, [](const FoundCount& row) {
      return std::pair(-static_cast<double>(row.metric.index()), row.value);
    });
  }

  void sum_identities() {
    Identities& sums = found_.identities;
    Duration waiting, critical;
    for (LocationId location : run_.locations) {
      for (const Wait& wait : graph_.waits[location.index()]) waiting += wait.amount;
    }
    for (const PathSegment& segment : all_.path.segments) critical += segment.end - segment.begin;
    sums.waiting_s = waiting.seconds();
    sums.critical_path_s = critical.seconds();
    sums.wall_s = run_.wall().seconds();
    for (const FoundDelay& row : found_.delays) sums.delay_costs_s += row.short_s + row.long_s;
    for (const FoundUnattributed& row : found_.unattributed) sums.unattributed_s += row.time_s;
    sums.imbalance_costs_s = all_.critical.costs_s;
    sums.imbalance_unattributed_s = all_.critical.unattributed_s;
  }

  const replay::Run& run_;
  const replay::WaitGraph& graph_;
  const Explanations& all_;
  Findings found_;
};

}  // namespace

Findings collect_findings(const replay::Run& run, const replay::WaitGraph& graph,
                          const Explanations& explanations) {
  return Collector(run, graph, explanations).collect();
}

}  // namespace culprit::blame
