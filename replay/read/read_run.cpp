// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Reads a run: masters first, then the other threads (whose call paths hang under forks of their
// master), then joins the call path trees and fills every location's life. Several ranks read each
// their own processes; then they join their trees, and agree on when the run began and ended.
#include "replay/run.h"

#include <algorithm>
#include <unordered_map>

#include "base/memory.h"
#include "base/parallel.h"
#include "replay/ranks/exchange.h"
#include "replay/read/device_busy.h"
#include "replay/read/join_device.h"
#include "replay/read/join_requests.h"
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

class RunReader {
 public:
  RunReader(const trace::Source& source, Transport& ranks, unsigned threads)
      : source_(source), definitions_(source.definitions()), threads_(threads) {
    run_.definitions = &definitions_;
    run_.ranks = &ranks;
    run_.shares = Shares(definitions_, ranks.size());
    run_.regions = definitions_.regions;
    run_.timelines.resize(definitions_.locations.size());
    run_.visits.resize(definitions_.locations.size());
    run_.samples.resize(definitions_.locations.size());
    anchors_.resize(definitions_.locations.size());
    forks_.resize(definitions_.processes.size());
    traits_ = traits_of(definitions_);
    name_copies();
  }

  Result<Run> read() {
    std::vector<LocationId> masters, others, streams;
    choose(masters, others, streams);
    read_streams(streams);
    read_all(masters);
    for (LocationId id : masters) directory(id).add(id, run_.at(id));
    read_all(others);
    drop_empty();
    if (auto found = find_events(); !found) return found.error();
    resolve_anchors(others);
    join_requests(run_, threads_);
    if (has_streams_) join_device(run_, threads_);
    for (LocationId id : run_.locations) find_leaders(run_.at(id));
    join_call_paths();
    mark_polling_paths();
    fill_lives();
    return std::move(run_);
  }

 private:
  /// All ranks come to the same.
  Result<void> find_events() const {
    struct Found {
      uint64_t locations, unreadable;
      Found operator+(const Found& o) const {
        return {locations + o.locations, unreadable + o.unreadable};
      }
    };
    const Found all =
        sum(*run_.ranks, Found{run_.locations.size(),
                               uint64_t{run_.losses.contains(LossKind::unreadable_locations)}});
    if (all.locations > 0) return {};
    if (all.unreadable == 0) return Error{"the trace contains no events of any thread"};
    return Error{"the events of all threads are missing from the trace, or cannot be read"};
  }

  ForkDirectory& directory(LocationId id) {
    return forks_[definitions_.locations[id.index()].process.index()];
  }

  /// Splits this rank's locations into each process's first thread, its others, and streams.
  void choose(std::vector<LocationId>& masters, std::vector<LocationId>& others,
              std::vector<LocationId>& streams) {
    uint64_t left_out = 0;
    for (size_t i = 0; i < definitions_.locations.size(); ++i) {
      const LocationId id(i);
      if (!run_.owns(id)) continue;
      if (run_.is_stream(id)) {
        streams.push_back(id);
      } else if (definitions_.locations[i].kind == trace::LocationKind::cpu_thread) {
        (run_.is_master(id) ? masters : others).push_back(id);
      } else {
        ++left_out;
      }
    }
    run_.losses.add(LossKind::locations_not_analysed, left_out);
  }

  /// Archives may tell of copies without a region, also among numbered operations: they get one of
  /// the run's.
  void name_copies() {
    for (const trace::Location& location : definitions_.locations) {
      has_streams_ |= location.kind == trace::LocationKind::accelerator_stream;
    }
    if (!has_streams_) return;
    for (auto [region, name] : {std::pair{&copies_.to_device, "copy to device"},
                                {&copies_.from_device, "copy from device"}}) {
      *region = RegionId(run_.regions.size());
      run_.regions.push_back(
          {name, trace::RegionRole::data_transfer, trace::Paradigm::unknown, {}, 0});
    }
  }

  void read_streams(const std::vector<LocationId>& ids) {
    std::vector<Losses> losses(ids.size());
    parallel_for(ids.size(), threads_, [&](size_t i) {
      StreamBuilder builder(run_.regions, copies_);
      if (auto done = source_.read(ids[i], builder, losses[i]); !done) {
        losses[i].add(LossKind::unreadable_locations, 1, done.error().sentence);
      }
      run_.at(ids[i]) = builder.take();
    });
    for (const Losses& loss : losses) run_.losses.merge(loss);
  }

  void read_all(const std::vector<LocationId>& ids) {
    std::vector<Losses> losses(ids.size());
    parallel_for(ids.size(), threads_, [&](size_t i) {
      const LocationId id = ids[i];
      const ForkDirectory& forks = directory(id);
      const bool master = run_.is_master(id);
      TimelineBuilder builder(id, definitions_, traits_,
                              [&forks, master](Time t, trace::RegionInstance instance) {
                                return master ? nullptr : forks.find(t, instance);
                              });
      builder.expect(definitions_.locations[id.index()].event_count);
      if (auto done = source_.read(id, builder, losses[i]); !done) {
        losses[i].add(LossKind::unreadable_locations, 1, done.error().sentence);
      }
      run_.at(id) = builder.take();
      anchors_[id.index()] = builder.take_anchors();
      if (const uint64_t inferred = run_.at(id).probes.inferred; inferred > 0) {
        losses[i].add(LossKind::probes_inferred, inferred);
      }
    });
    for (const Losses& loss : losses) run_.losses.merge(loss);
  }

  void drop_empty() {
    for (size_t i = 0; i < run_.timelines.size(); ++i) {
      if (run_.timelines[i].empty()) continue;
      run_.locations.push_back(LocationId(i));
      run_.events += run_.timelines[i].events;
    }
  }

  /// Teams forked by a thread that is no master (nested regions): their forks are known only now.
  void resolve_anchors(const std::vector<LocationId>& others) {
    for (LocationId id : others) directory(id).add(id, run_.at(id));
    for (LocationId id : others) {
      for (Anchor& anchor : anchors_[id.index()]) {
        if (anchor.origin.location.valid()) continue;
        if (const TeamOrigin* origin = directory(id).find(anchor.time, anchor.instance)) {
          if (origin->location != id) anchor.origin = *origin;
        }
      }
      for (const LostTeam& lost : run_.at(id).lost_teams) {
        TeamSpan& team = run_.at(id).teams[lost.span];
        if (const TeamOrigin* origin = directory(id).find(team.begin, lost.instance)) {
          team.fork_location = origin->location;
          team.fork = origin->fork;
        } else {
          run_.losses.add(LossKind::teams_without_fork);
        }
      }
      run_.at(id).lost_teams = {};
    }
  }

  static void find_leaders(Timeline& line) {
    for (const TeamSpan& team : line.teams) {
      if (!team.fork_location.valid()) continue;
      if (!line.leaders.empty() && line.leaders.back() == team.fork_location) continue;
      if (std::find(line.leaders.begin(), line.leaders.end(), team.fork_location) ==
          line.leaders.end()) {
        line.leaders.push_back(team.fork_location);
      }
    }
  }

  // --- one tree of call paths
  // ---------------------------------------------------------------------

  /// The order of processes, not of locations: ranks have runs of processes.
  void join_call_paths() {
    maps_.resize(run_.timelines.size());
    std::vector<LocationId> by_process = run_.locations;
    std::stable_sort(by_process.begin(), by_process.end(), [&](LocationId a, LocationId b) {
      return run_.location(a).process < run_.location(b).process;
    });
    for (LocationId id : by_process) {
      if (run_.is_stream(id)) {
        place_operations(id);
      } else {
        join(id);
      }
    }
    if (!run_.ranks->alone()) join_ranks();
    for (auto [path, name] : {std::pair{&run_.not_started, "(not started)"},
                              {&run_.idle, "(idle)"},
                              {&run_.waking, "(waking up)"},
                              {&run_.ended, "(ended)"},
                              {&run_.outside, "(outside)"}}) {
      *path = artificial(name);
    }
    if (!has_streams_) return;
    run_.device_idle = artificial("(device idle)");
    run_.stream_idle = artificial("(stream idle)");
    run_.launch_latency = artificial("(launch latency)");
  }

  void mark_polling_paths() {
    std::vector<bool> regions;
    for (const trace::Region& region : run_.regions) {
      regions.push_back(asking_region_of(region.name).polls);
    }
    for (const CallPathTree::Node& node : run_.callpaths.nodes()) {
      run_.polls.push_back(node.region.valid() && regions[node.region.index()]);
    }
  }

  CallPathId artificial(const char* name) {
    run_.regions.push_back({name, trace::RegionRole::artificial, trace::Paradigm::unknown, {}, 0});
    return run_.callpaths.child(CallPathId::none(), RegionId(run_.regions.size() - 1));
  }

  /// A stream's operations hang under the calls that launched them.
  void place_operations(LocationId stream) {
    for (DeviceOperation& operation : run_.at(stream).device.operations) {
      CallPathId above;
      if (operation.launch.valid()) {
        const LocationId host = operation.launch.host;
        join(host);
        const CallIndex call = run_.at(host).device.launches[operation.launch.launch].call;
        above = run_.call(host, call).path;
        if (above.valid()) above = maps_[host.index()][above.index()];
      }
      operation.path = run_.callpaths.child(above, operation.region);
    }
  }

  /// Adds a location's tree to the run's; first those of the locations that it hangs under.
  void join(LocationId id) {
    std::vector<CallPathId>& map = maps_[id.index()];
    const CallPathTree& tree = run_.at(id).tree;
    if (!map.empty() || tree.size() == 0) return;
    map.assign(tree.size(), CallPathId::none());
    size_t next_anchor = 0;
    for (size_t i = 0; i < tree.size(); ++i) {
      const CallPathTree::Node& node = tree[CallPathId(i)];
      if (node.region.valid()) {
        const CallPathId parent = node.parent.valid() ? map[node.parent.index()] : node.parent;
        map[i] = run_.callpaths.child(parent, node.region);
        continue;
      }
      const TeamOrigin& origin = anchors_[id.index()][next_anchor++].origin;
      if (!origin.location.valid()) continue;
      join(origin.location);
      if (origin.path.valid()) map[i] = maps_[origin.location.index()][origin.path.index()];
    }
  }

  /// All ranks' trees become one, in the order of ranks: numbered as one rank alone would.
  void join_ranks() {
    Packer own;
    own.put_list(run_.callpaths.nodes());
    CallPathTree all;
    std::vector<CallPathId> numbers;
    const std::vector<Parcel> trees = gather_everywhere(*run_.ranks, own.take());
    for (size_t rank = 0; rank < trees.size(); ++rank) {
      numbers.clear();
      Unpacker(trees[rank]).get_list<CallPathTree::Node>([&](const CallPathTree::Node& node) {
        const CallPathId parent = node.parent.valid() ? numbers[node.parent.index()] : node.parent;
        numbers.push_back(all.child(parent, node.region));
      });
      if (rank == run_.ranks->rank()) renumber_maps(numbers);
    }
    run_.callpaths = std::move(all);
  }

  void renumber_maps(const std::vector<CallPathId>& numbers) {
    for (std::vector<CallPathId>& map : maps_) {
      for (CallPathId& path : map) {
        if (path.valid()) path = numbers[path.index()];
      }
    }
    for (LocationId id : run_.locations) {
      for (DeviceOperation& operation : run_.at(id).device.operations) {
        operation.path = numbers[operation.path.index()];
      }
    }
  }

  // --- lives ------------------------------------------------------------------------------------

  void fill_lives() {
    settle_span(run_);
    parallel_for(run_.locations.size(), threads_, [&](size_t i) { fill_life(run_.locations[i]); });
    settle_births(run_);
  }

  /// Activities of every location tile the run. A pool thread that does not exist yet, or does no
  /// more, is idle while its process lives: the process holds its core. One that its runtime has
  /// ended for good is not.
  void fill_life(LocationId id) {
    if (run_.is_stream(id)) return fill_stream(id);
    Timeline& line = run_.at(id);
    const Timeline& master = run_.at(run_.master_of(id));
    const bool pool_thread = run_.is_pool_thread(id);
    line.own_thread = !pool_thread && !run_.is_master(id);
    renumber(id, pool_thread ? run_.idle : line.own_thread ? between_threads() : run_.outside);
    Activities& life = line.activities;
    life.set_begin(0, run_.begin);
    life.set_path(0, run_.not_started);
    const bool late = pool_thread && master.first < line.first;
    life.set_begin(1, late ? master.first : line.first);
    life.set_path(1, run_.idle);
    life.set_end(run_.end);
    count_absence(run_, id);
    if (line.last == run_.end) return;
    const bool idles_on = pool_thread && !line.ended;
    const Time end = idles_on ? std::max(line.last, master.last) : line.last;
    if (line.last < end) append(life, line.last, run_.idle);
    if (end < run_.end) append(life, end, run_.ended);
  }

  /// Where a location of the program's own threads is while it is nowhere. In archives of our own
  /// each thread is in the function that it runs from its begin to its end, and a location may have
  /// several, one after the other.
  CallPathId between_threads() const {
    const bool ours = run_.definitions->creator.starts_with(trace::kOwnCreator);
    return ours ? run_.not_started : run_.outside;
  }

  void fill_stream(LocationId id) {
    build_stream_life(run_, id, {}, {});
    std::vector<uint64_t>& visits = run_.visits[id.index()];
    visits.resize(run_.callpaths.size());
    for (const DeviceOperation& operation : run_.at(id).device.operations) {
      ++visits[operation.path.index()];
    }
  }

  static void append(Activities& life, Time begin, CallPathId path) {
    if (life.begins().back() == begin) {
      life.paths().back() = path;
    } else {
      life.push_back(begin, path);
    }
  }

  /// From the call paths of its own tree to those of the run's.
  void renumber(LocationId id, CallPathId nowhere) {
    Timeline& line = run_.at(id);
    const std::vector<CallPathId>& map = maps_[id.index()];
    const auto renew = [&](CallPathId& path) {
      if (path.valid()) path = map[path.index()];
    };
    for (CallPathId& path : line.activities.paths()) {
      renew(path);
      if (!path.valid()) path = nowhere;
    }
    for (Call& call : line.calls.whole()) renew(call.path);
    for (Fork& fork : line.forks) renew(fork.path);
    for_each_path(line.openmp, renew);
    for (Unanswered& call : line.unanswered) renew(call.path);
    for (Count& count : line.counts) {
      renew(count.path);
      if (!count.path.valid()) count.path = nowhere;
    }
    std::vector<uint64_t>& visits = run_.visits[id.index()];
    visits.resize(run_.callpaths.size());
    for (size_t i = 0; i < map.size(); ++i) {
      if (map[i].valid()) visits[map[i].index()] += line.visits[i];
    }
    std::vector<PathSamples>& samples = run_.samples[id.index()];
    if (!line.samples.empty()) samples.resize(run_.callpaths.size());
    for (size_t i = 0; i < line.samples.size(); ++i) {
      if (!map[i].valid()) continue;
      samples[map[i].index()].samples += line.samples[i].samples;
      samples[map[i].index()].observed += line.samples[i].observed;
    }
    line.tree = {};
    line.visits = {};
    line.samples = {};
  }

  const trace::Source& source_;
  const trace::Definitions& definitions_;
  unsigned threads_;
  Run run_;
  std::vector<RegionTraits> traits_;
  bool has_streams_ = false;  // of any rank
  CopyRegions copies_;
  std::vector<ForkDirectory> forks_;           // by ProcessId
  std::vector<std::vector<Anchor>> anchors_;   // by LocationId, in order of their tree nodes
  std::vector<std::vector<CallPathId>> maps_;  // by LocationId: own path -> the run's
};

}  // namespace

Result<Run> read_run(const trace::Source& source, Transport& ranks, unsigned threads) {
  Result<Run> run = RunReader(source, ranks, threads).read();
  give_back_free_memory();
  return run;
}

}  // namespace culprit::replay
