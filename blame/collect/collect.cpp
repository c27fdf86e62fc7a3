// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Rows are made table by table, in parallel where there are many. Only the first rank makes rows of
// data that all ranks share.
#include "blame/collect/collect.h"

#include <algorithm>
#include <map>

#include "base/parallel.h"
#include "blame/critical_path/short_segments.h"
#include "blame/findings/topologies.h"
#include "blame/profile/start_up.h"

namespace culprit::blame {

namespace {

void add_kernel_times(const replay::Run& run, Findings& found) {
  for (LocationId location : run.locations) {
    const std::vector<replay::PathSamples>& samples = run.samples[location.index()];
    for (size_t i = 0; i < samples.size(); ++i) {
      const replay::PathSamples& here = samples[i];
      if (here.system <= Duration::zero()) continue;
      found.kernel_times.push_back({CallPathId(i), location, here.system.seconds(),
                                    here.faulting.seconds(), here.page_faults});
    }
  }
}

void add_spare_threads(const replay::WaitGraph& graph, Findings& found) {
  for (const replay::SpareTime& spare : graph.spares) {
    found.spare_threads.push_back({spare.location, spare.path, spare.maker, spare.sleeps,
                                   spare.asleep.seconds(), spare.awake.seconds(),
                                   !spare.never_awake});
  }
}

class Collector {
 public:
  Collector(const replay::Run& run, const replay::WaitGraph& graph, const Explanations& all,
            unsigned threads)
      : run_(run), graph_(graph), all_(all), threads_(threads) {}

  Findings collect() {
    describe_run();
    add_locations();
    if (run_.ranks->rank() == 0) found_.callpaths = found_callpaths(run_, threads_);
    if (run_.ranks->rank() == 0) add_topologies(*run_.definitions, found_);
    add_waits();
    add_polling();
    add_progress();
    add_spare_threads(graph_, found_);
    add_delays();
    add_critical_path();
    add_profile();
    add_kernel_times(run_, found_);
    add_counts();
    add_time_series();
    sum_identities();
    found_.losses = run_.losses;
    found_.losses.add(LossKind::unexplained_waits, all_.delays.unexplained_waits);
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
    for (LocationId l : run_.locations) found_.run.allocation_s += run_.life(l).length().seconds();
    found_.run.creator = defs.creator;
    found_.run.command = defs.program;
  }

  void add_locations() {
    found_.locations = found_locations(run_);
    for (size_t i = 0; i < found_.locations.size(); ++i) {
      found_.locations[i].waiting_s = total(all_.waits[i]).seconds();
    }
  }

  void add_waits() {
    for (LocationId location : run_.locations) {
      for (const WaitSum& sum : all_.waits[location.index()]) {
        if (!replay::counts_as_waiting(sum.pattern)) continue;
        found_.waits.push_back({id(sum.pattern), sum.path, location, sum.count, sum.time.seconds(),
                                sum.indirect_s, sum.propagating_s});
      }
    }
  }

  void add_progress() { found_.progress.suspected_s = graph_.suspected.seconds(); }

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
    for (const PollingCost& cost : all_.delays.polling_causes) {
      found_.polling_causes.push_back({cost.path, cost.location, cost.time_s});
    }
  }

  void add_delays() {
    found_.delays.reserve(all_.delays.costs.size());
    for (const DelayCost& cost : all_.delays.costs) {
      found_.delays.push_back(
          {id(cost.pattern), cost.path, cost.location, cost.short_s, cost.long_s});
    }
    for (const UnattributedCost& cost : all_.delays.unattributed) {
      found_.unattributed.push_back({id(cost.pattern), cost.reason, cost.time_s});
    }
  }

  void add_critical_path() {
    for (const CriticalCallPath& row : all_.critical.callpaths) {
      found_.critical_callpaths.push_back({row.path, row.on_path.seconds(), row.imbalance_s,
                                           row.activity_s, row.intra_s, row.inter_s,
                                           row.activity_s + row.intra_s + row.inter_s});
    }
    for (const CriticalPlace& row : all_.path.places) {
      found_.critical_path.push_back({row.path, row.location, row.on_path.seconds()});
    }
    for (const PathSegment& segment : join_short_segments(all_.path.segments, kMostSegments)) {
      found_.segments.push_back({segment.location, segment.path,
                                 (segment.begin - run_.begin).seconds(),
                                 (segment.end - run_.begin).seconds()});
    }
  }

  void add_profile() {
    std::vector<std::vector<FoundProfile>> rows(run_.locations.size());
    parallel_for(
        rows.size(), threads_, [&] { return PathSums(run_.callpaths.size()); },
        [&](size_t i, PathSums& sums) { rows[i] = profile_of(run_.locations[i], sums); });
    for (const auto& of_one : rows) {
      found_.profile.insert(found_.profile.end(), of_one.begin(), of_one.end());
    }
  }

  std::vector<FoundProfile> profile_of(LocationId location, PathSums& sums) const {
    sums.clear();
    for (const PathTime& entry : all_.profiles[location.index()]) sums.add(entry.path, entry.time);
    for (const WaitSum& sum : all_.waits[location.index()]) sums.add(sum.path, sum.time);
    const std::vector<uint64_t>& visits = run_.visits[location.index()];
    std::vector<CallPathId> paths = sums.paths();
    // A call path that was visited has a row even where all of its time belongs to its callees.
    for (size_t i = 0; i < visits.size(); ++i) {
      const CallPathId path(i);
      if (visits[i] > 0 && sums[path] == Duration::zero()) paths.push_back(path);
    }
    std::sort(paths.begin(), paths.end());
    const std::vector<replay::PathSamples>& samples = run_.samples[location.index()];
    std::vector<FoundProfile> rows;
    rows.reserve(paths.size());
    for (CallPathId path : paths) {
      const uint64_t count = path.index() < visits.size() ? visits[path.index()] : 0;
      FoundProfile& row = rows.emplace_back(path, location, count, sums[path].seconds());
      replay::PathSamples known;
      if (path.index() < samples.size()) known = samples[path.index()];
      row.samples = known.samples;
      if (is_sampled(path)) row.sampled_s = std::max(0.0, row.time_s - known.observed.seconds());
    }
    return rows;
  }

  /// Returns whether a path's exclusive time comes from samples: culprit's archives have events of
  /// user functions where samples found them, unless the functions were compiled with
  /// instrumentation.
  bool is_sampled(CallPathId path) const {
    if (!run_.definitions->creator.starts_with(trace::kOwnCreator)) return false;
    const trace::Region& region = run_.regions[run_.callpaths[path].region.index()];
    return region.role == trace::RegionRole::function && region.paradigm == trace::Paradigm::user;
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
  }

  void add_time_series() {
    found_.run.intervals = static_cast<uint32_t>(all_.series.intervals);
    for (const LocationInterval& row : all_.series.locations) {
      found_.location_times.push_back({row.location, static_cast<uint32_t>(row.interval),
                                       row.share.time.seconds(), row.share.waiting.seconds(),
                                       row.path});
    }
    for (const CallPathInterval& row : all_.series.callpaths) {
      found_.callpath_times.push_back({row.first, static_cast<uint32_t>(row.interval), row.path,
                                       row.share.time.seconds(), row.share.waiting.seconds()});
    }
  }

  /// The sums over all locations may exceed the range of Duration.
  void sum_identities() {
    Identities& sums = found_.identities;
    for (LocationId id : run_.locations) sums.waiting_s += total(all_.waits[id.index()]).seconds();
    Duration critical;
    for (const PathSegment& segment : all_.path.segments) critical += segment.end - segment.begin;
    sums.critical_path_s = critical.seconds();
    sums.wall_s = run_.wall().seconds();
    sums.imbalance_costs_s = all_.critical.costs_s;
    sums.imbalance_unattributed_s = all_.critical.unattributed_s;
  }

  const replay::Run& run_;
  const replay::WaitGraph& graph_;
  const Explanations& all_;
  const unsigned threads_;
  Findings found_;
};

}  // namespace

std::vector<FoundLocation> found_locations(const replay::Run& run) {
  std::vector<FoundLocation> found;
  for (size_t i = 0; i < run.timelines.size(); ++i) {
    const trace::Location& location = run.definitions->locations[i];
    const trace::Process& process = run.definitions->processes[location.process.index()];
    FoundLocation& row = found.emplace_back();
    row.rank = process.rank;
    row.thread = location.thread;
    row.name = std::to_string(row.rank) + "." + std::to_string(row.thread);
    row.node = process.node;
    row.life_s = run.timelines[i].empty() ? 0 : run.life(LocationId(i)).length().seconds();
    if (location.kind == trace::LocationKind::accelerator_stream) row.stream = location.name;
  }
  return found;
}

std::vector<FoundCallPath> found_callpaths(const replay::Run& run, unsigned threads) {
  std::vector<FoundCallPath> found(run.callpaths.size());
  const std::vector<bool> start_up = start_up_paths(run);
  constexpr size_t kBlock = 512;
  parallel_for((found.size() + kBlock - 1) / kBlock, threads, [&](size_t b) {
    const size_t end = std::min((b + 1) * kBlock, found.size());
    for (size_t i = b * kBlock; i < end; ++i) {
      const CallPathId path(i);
      const trace::Region& region = run.regions[run.callpaths[path].region.index()];
      found[i] = {run.callpaths.name(path, run.regions),
                  region.name,
                  region.file,
                  region.line,
                  run.callpaths[path].parent,
                  start_up[i],
                  std::string(trace::to_string(region.paradigm))};
    }
  });
  return found;
}

Findings collect_findings(const replay::Run& run, const replay::WaitGraph& graph,
                          const Explanations& explanations, unsigned threads) {
  return Collector(run, graph, explanations, threads).collect();
}

}  // namespace culprit::blame
