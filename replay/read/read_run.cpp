// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Reads a run: masters first, then the other threads (whose call paths hang under forks of their
// master), then joins the call path trees and fills every location's life. Several ranks read each
// their own processes; then they join their trees, and agree on when the run began and ended.
#include "replay/model/run.h"

#include <algorithm>
#include <unordered_map>

#include "base/memory.h"
#include "base/parallel.h"
#include "base/progress/progress.h"
#include "base/ranks/exchange.h"
#include "replay/read/device_busy.h"
#include "replay/read/join_call_paths.h"
#include "replay/read/join_device.h"
#include "replay/read/join_requests.h"
#include "replay/read/lives.h"
#include "replay/read/stream_builder.h"
#include "replay/read/timeline_builder.h"

namespace culprit::replay {

namespace {

/// The forks of one process, found by region instance or, where writers give none, by time.
class ForkDirectory {
 public:
  void add(LocationId location, const Timeline& line) {
    for (size_t f = 0; f < line.forks.size(); ++f) {
      const Fork& fork = line.forks[f];
      forks_.push_back({fork.time, {location, ForkIndex(f), fork.path, fork.region}});
      if (fork.instance != trace::RegionInstance::unknown) {
        by_instance_[static_cast<uint64_t>(fork.instance)] = forks_.back().origin;
      }
    }
    std::stable_sort(forks_.begin(), forks_.end(),
                     [](const Entry& a, const Entry& b) { return a.time < b.time; });
  }

  const TeamOrigin* find(Time time, trace::RegionInstance instance) const {
    if (instance != trace::RegionInstance::unknown) {
      const auto known = by_instance_.find(static_cast<uint64_t>(instance));
      return known == by_instance_.end() ? nullptr : &known->second;
    }
    const auto after = std::upper_bound(forks_.begin(), forks_.end(), time,
                                        [](Time t, const Entry& e) { return t < e.time; });
    return after == forks_.begin() ? nullptr : &std::prev(after)->origin;
  }

 private:
  struct Entry {
    Time time;
    TeamOrigin origin;
  };
  std::vector<Entry> forks_;
  std::unordered_map<uint64_t, TeamOrigin> by_instance_;
};

/// By ProcessId.
using Forks = std::vector<ForkDirectory>;

ForkDirectory& directory_of(const Run& run, LocationId id, Forks& forks) {
  return forks[run.location(id).process.index()];
}

/// This rank's locations.
struct Chosen {
  std::vector<LocationId> masters;  ///< each process's first thread
  std::vector<LocationId> others;   ///< its other threads
  std::vector<LocationId> streams;
};

Run begin_run(const trace::Source& source, Transport& ranks) {
  const trace::Definitions& definitions = source.definitions();
  Run run;
  run.definitions = &definitions;
  run.ranks = &ranks;
  run.shares = Shares::of(source, ranks.size());
  run.regions = definitions.regions;
  run.timelines.resize(definitions.locations.size());
  run.visits.resize(definitions.locations.size());
  run.samples.resize(definitions.locations.size());
  return run;
}

/// Errors are the same on all ranks.
Result<void> find_events(const Run& run) {
  struct Found {
    uint64_t locations, unreadable;
    Found operator+(const Found& o) const {
      return {locations + o.locations, unreadable + o.unreadable};
    }
  };
  const Found all = sum(
      *run.ranks,
      Found{run.locations.size(), uint64_t{run.losses.contains(LossKind::unreadable_locations)}});
  if (all.locations > 0) return {};
  if (all.unreadable == 0) return Error{"the trace contains no events of any thread"};
  return Error{"the events of all threads are missing from the trace, or cannot be read"};
}

Chosen choose(Run& run) {
  Chosen chosen;
  uint64_t left_out = 0;
  for (size_t i = 0; i < run.definitions->locations.size(); ++i) {
    const LocationId id(i);
    if (!run.owns(id)) continue;
    if (run.is_stream(id)) {
      chosen.streams.push_back(id);
    } else if (run.definitions->locations[i].kind == trace::LocationKind::cpu_thread) {
      (run.is_master(id) ? chosen.masters : chosen.others).push_back(id);
    } else {
      ++left_out;
    }
  }
  run.losses.add(LossKind::locations_not_analysed, left_out);
  return chosen;
}

/// Archives may record copies without a region, also among numbered operations: these get one of
/// the run's regions.
CopyRegions name_copies(Run& run) {
  CopyRegions copies;
  if (!has_streams(*run.definitions)) return copies;
  for (auto [region, name] : {std::pair{&copies.to_device, "copy to device"},
                              {&copies.from_device, "copy from device"}}) {
    *region = RegionId(run.regions.size());
    run.regions.push_back(
        {name, trace::RegionRole::data_transfer, trace::Paradigm::unknown, {}, 0});
  }
  return copies;
}

void read_streams(const trace::Source& source, const std::vector<LocationId>& ids,
                  const CopyRegions& copies, unsigned threads, Run& run) {
  std::vector<Losses> losses(ids.size());
  parallel_for(ids.size(), threads, [&](size_t i) {
    StreamBuilder builder(run.regions, copies);
    if (auto done = source.read(ids[i], builder, losses[i]); !done) {
      losses[i].add(LossKind::unreadable_locations, 1, done.error().sentence);
    }
    run.at(ids[i]) = builder.take();
  });
  for (const Losses& loss : losses) run.losses.merge(loss);
}

void read_threads(const trace::Source& source, const std::vector<LocationId>& ids,
                  const std::vector<RegionTraits>& traits, Forks& forks_of, unsigned threads,
                  Run& run, AnchorLists& anchors) {
  std::vector<Losses> losses(ids.size());
  progress::Progress progress(progress::Stage::events, ids.size());
  parallel_for(ids.size(), threads, [&](size_t i) {
    const LocationId id = ids[i];
    const ForkDirectory& forks = directory_of(run, id, forks_of);
    const bool master = run.is_master(id);
    TimelineBuilder builder(id, *run.definitions, traits,
                            [&forks, master](Time t, trace::RegionInstance instance) {
                              return master ? nullptr : forks.find(t, instance);
                            });
    builder.expect(run.definitions->locations[id.index()].event_count);
    if (auto done = source.read(id, builder, losses[i]); !done) {
      losses[i].add(LossKind::unreadable_locations, 1, done.error().sentence);
    }
    run.at(id) = builder.take();
    anchors[id.index()] = builder.take_anchors();
    if (const uint64_t inferred = run.at(id).probes.inferred; inferred > 0) {
      losses[i].add(LossKind::probes_inferred, inferred);
    }
    progress.step();
  });
  for (const Losses& loss : losses) run.losses.merge(loss);
}

void drop_empty(Run& run) {
  for (size_t i = 0; i < run.timelines.size(); ++i) {
    if (run.timelines[i].empty()) continue;
    run.locations.push_back(LocationId(i));
    run.events += run.timelines[i].events;
  }
}

/// Teams forked by a thread that is no master (nested regions): their forks are known only now.
void resolve_anchors(const std::vector<LocationId>& others, Forks& forks, Run& run,
                     AnchorLists& anchors) {
  for (LocationId id : others) directory_of(run, id, forks).add(id, run.at(id));
  for (LocationId id : others) {
    for (Anchor& anchor : anchors[id.index()]) {
      if (anchor.origin.location.valid()) continue;
      if (const TeamOrigin* origin =
              directory_of(run, id, forks).find(anchor.time, anchor.instance)) {
        if (origin->location != id) anchor.origin = *origin;
      }
    }
    for (const LostTeam& lost : run.at(id).lost_teams) {
      TeamSpan& team = run.at(id).teams[lost.span];
      if (const TeamOrigin* origin = directory_of(run, id, forks).find(team.begin, lost.instance)) {
        team.fork_location = origin->location;
        team.fork = origin->fork;
      } else {
        run.losses.add(LossKind::teams_without_fork);
      }
    }
    run.at(id).lost_teams = {};
  }
}

void find_leaders(Timeline& line) {
  if (line.teams.empty()) return;
  line.in_teams = true;
  line.first_leader = line.teams.front().fork_location;
  for (const TeamSpan& team : line.teams) {
    if (!team.fork_location.valid()) continue;
    if (!line.leaders.empty() && line.leaders.back() == team.fork_location) continue;
    if (std::find(line.leaders.begin(), line.leaders.end(), team.fork_location) ==
        line.leaders.end()) {
      line.leaders.push_back(team.fork_location);
    }
  }
}

/// All steps of reading, in order.
Result<Run> read_all(const trace::Source& source, Transport& ranks, unsigned threads) {
  Run run = begin_run(source, ranks);
  const Chosen chosen = choose(run);
  const CopyRegions copies = name_copies(run);
  const std::vector<RegionTraits> traits = traits_of(*run.definitions);
  Forks forks(run.definitions->processes.size());
  AnchorLists anchors(run.timelines.size());
  read_streams(source, chosen.streams, copies, threads, run);
  read_threads(source, chosen.masters, traits, forks, threads, run, anchors);
  for (LocationId id : chosen.masters) directory_of(run, id, forks).add(id, run.at(id));
  read_threads(source, chosen.others, traits, forks, threads, run, anchors);
  drop_empty(run);
  if (auto found = find_events(run); !found) return found.error();
  resolve_anchors(chosen.others, forks, run, anchors);
  join_requests(run, threads);
  if (has_streams(*run.definitions)) join_device(run, threads);
  for (LocationId id : run.locations) find_leaders(run.at(id));
  const PathMaps maps = join_call_paths(run, anchors);
  fill_lives(run, maps, threads);
  return run;
}

}  // namespace

Result<Run> read_run(const trace::Source& source, Transport& ranks, unsigned threads) {
  Result<Run> run = read_all(source, ranks, threads);
  give_back_free_memory();
  return run;
}

}  // namespace culprit::replay
