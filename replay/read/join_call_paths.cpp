// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Locations are joined in the order of processes, and those that one hangs under before it; so the
// numbers of paths depend on the trace alone, however many threads or ranks read it.
#include "replay/read/join_call_paths.h"

#include <algorithm>
#include <utility>

#include "base/ranks/exchange.h"
#include "replay/read/device_busy.h"
#include "trace/pseudo_regions.h"

namespace culprit::replay {

namespace {

CallPathId artificial(Run& run, std::string_view name) {
  run.regions.push_back(
      {std::string(name), trace::RegionRole::artificial, trace::Paradigm::unknown, {}, 0});
  return run.callpaths.child(CallPathId::none(), RegionId(run.regions.size() - 1));
}

/// Adds a location's tree to the run's; first those of the locations that it hangs under.
void join(Run& run, const AnchorLists& anchors, LocationId id, PathMaps& maps) {
  std::vector<CallPathId>& map = maps[id.index()];
  const CallPathTree& tree = run.at(id).tree;
  if (!map.empty() || tree.size() == 0) return;
  map.assign(tree.size(), CallPathId::none());
  size_t next_anchor = 0;
  for (size_t i = 0; i < tree.size(); ++i) {
    const CallPathTree::Node& node = tree[CallPathId(i)];
    if (node.region.valid()) {
      const CallPathId parent = node.parent.valid() ? map[node.parent.index()] : node.parent;
      map[i] = run.callpaths.child(parent, node.region);
      continue;
    }
    const TeamOrigin& origin = anchors[id.index()][next_anchor++].origin;
    if (!origin.location.valid()) continue;
    join(run, anchors, origin.location, maps);
    if (origin.path.valid()) map[i] = maps[origin.location.index()][origin.path.index()];
  }
}

/// A stream's operations hang under the calls that launched them.
void place_operations(Run& run, const AnchorLists& anchors, LocationId stream, PathMaps& maps) {
  for (DeviceOperation& operation : run.at(stream).device.operations) {
    CallPathId above;
    if (operation.launch.valid()) {
      const LocationId host = operation.launch.host;
      join(run, anchors, host, maps);
      const CallIndex call = run.at(host).device.launches[operation.launch.launch].call;
      above = run.call(host, call).path;
      if (above.valid()) above = maps[host.index()][above.index()];
    }
    operation.path = run.callpaths.child(above, operation.region);
  }
}

void renumber(Run& run, const std::vector<CallPathId>& numbers, PathMaps& maps) {
  for (std::vector<CallPathId>& map : maps) {
    for (CallPathId& path : map) {
      if (path.valid()) path = numbers[path.index()];
    }
  }
  for (LocationId id : run.locations) {
    for (DeviceOperation& operation : run.at(id).device.operations) {
      operation.path = numbers[operation.path.index()];
    }
  }
}

/// Joins all ranks' trees into one, in the order of ranks, numbered as by a single rank.
void join_ranks(Run& run, PathMaps& maps) {
  Packer own;
  own.put_list(run.callpaths.nodes());
  CallPathTree all;
  std::vector<CallPathId> numbers;
  const std::vector<Parcel> trees = gather_everywhere(*run.ranks, own.take());
  for (size_t rank = 0; rank < trees.size(); ++rank) {
    numbers.clear();
    Unpacker(trees[rank]).get_list<CallPathTree::Node>([&](const CallPathTree::Node& node) {
      const CallPathId parent = node.parent.valid() ? numbers[node.parent.index()] : node.parent;
      numbers.push_back(all.child(parent, node.region));
    });
    if (rank == run.ranks->rank()) renumber(run, numbers, maps);
  }
  run.callpaths = std::move(all);
}

void mark_polling_paths(Run& run) {
  std::vector<bool> regions;
  for (const trace::Region& region : run.regions) {
    const AskingRegion asking = asking_region_of(region);
    regions.push_back(asking.polls || asking.spins);
  }
  for (const CallPathTree::Node& node : run.callpaths.nodes()) {
    run.polls.push_back(node.region.valid() && regions[node.region.index()]);
  }
}

void add_artificial_paths(Run& run) {
  for (auto [path, name] : {std::pair{&run.not_started, trace::pseudo::not_started},
                            {&run.idle, trace::pseudo::idle},
                            {&run.waking, trace::pseudo::waking},
                            {&run.ended, trace::pseudo::ended},
                            {&run.outside, trace::pseudo::outside}}) {
    *path = artificial(run, name);
  }
  if (!has_streams(*run.definitions)) return;
  run.device_idle = artificial(run, trace::pseudo::device_idle);
  run.stream_idle = artificial(run, trace::pseudo::stream_idle);
  run.launch_latency = artificial(run, trace::pseudo::launch_latency);
}

}  // namespace

PathMaps join_call_paths(Run& run, const AnchorLists& anchors) {
  PathMaps maps(run.timelines.size());
  std::vector<LocationId> by_process = run.locations;
  std::stable_sort(by_process.begin(), by_process.end(), [&](LocationId a, LocationId b) {
    return run.location(a).process < run.location(b).process;
  });
  for (LocationId id : by_process) {
    if (run.is_stream(id)) {
      place_operations(run, anchors, id, maps);
    } else {
      join(run, anchors, id, maps);
    }
  }
  if (!run.ranks->alone()) join_ranks(run, maps);
  add_artificial_paths(run);
  mark_polling_paths(run);
  return maps;
}

}  // namespace culprit::replay
