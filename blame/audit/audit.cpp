// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Tiles are sums of the results of earlier passes; locations are independent of each other.
#include "blame/audit/audit.h"

#include <algorithm>
#include <array>
#include <map>
#include <span>

#include "base/parallel.h"
#include "blame/audit/long_calls.h"
#include "blame/audit/shared_calls.h"
#include "blame/explain/explanations.h"
#include "blame/profile/stretches.h"
#include "trace/pseudo_regions.h"

namespace culprit::blame {

namespace {

/// The part of the unexplained time that lies in the interval of a row.
constexpr double kMostOfIt = 0.8;

constexpr size_t kTiles = Words<Tile>::kSpelled.size();

/// One location's time by class.
class TileSums {
 public:
  void add(Tile tile, CallPathId path, double time_s) {
    if (time_s > 0) sums_[static_cast<size_t>(tile)][path] += time_s;
  }

  void write(LocationId location, std::vector<FoundTile>& rows) const {
    for (size_t t = 0; t < kTiles; ++t) {
      FoundTile row{Tile(t), location};
      for (const auto& [path, time_s] : sums_[t]) {
        row.time_s += time_s;
        if (time_s > row.callpath_s) row.callpath = path, row.callpath_s = time_s;
      }
      if (row.time_s > 0) rows.push_back(row);
    }
  }

 private:
  std::array<std::map<CallPathId, double>, kTiles> sums_;
};

trace::Pseudo pseudo_at(const replay::Run& run, CallPathId path) {
  const RegionId region = run.callpaths[path].region;
  return region.valid() ? trace::pseudo_of(run.regions[region.index()].name) : trace::Pseudo::none;
}

/// By CallPathId: the loop that waits for memory to change in which the path is, also if the loop
/// has called something; none if there is no such loop. Empty if there is none at all.
std::vector<CallPathId> spinning_paths(const replay::Run& run) {
  std::vector<CallPathId> found(run.callpaths.size(), CallPathId::none());
  bool any = false;
  for (size_t i = 0; i < found.size(); ++i) {
    const CallPathId parent = run.callpaths[CallPathId(i)].parent;
    if (pseudo_at(run, CallPathId(i)) == trace::Pseudo::spinning) {
      found[i] = CallPathId(i);
    } else if (parent.valid()) {
      found[i] = found[parent.index()];
    }
    any = any || found[i].valid();
  }
  if (!any) found.clear();
  return found;
}

/// By CallPathId: the class of time without waiting.
std::vector<Tile> tiles_of(const replay::Run& run, const std::vector<PathKind>& kinds,
                           const std::vector<CallPathId>& spinning) {
  std::vector<Tile> tiles(kinds.size());
  for (size_t i = 0; i < tiles.size(); ++i) {
    const bool spins = !spinning.empty() && spinning[i].valid();
    tiles[i] = spins ? Tile::spinning : tile_of(kinds[i]);
    const RegionId region = run.callpaths[CallPathId(i)].region;
    if (kinds[i] != PathKind::work || !region.valid()) continue;
    tiles[i] = tile_of_own_code(trace::pseudo_of(run.regions[region.index()].name));
  }
  return tiles;
}

/// By CallPathId: the path itself where the thread slept in an unknown call. Empty if there is no
/// such path.
std::vector<CallPathId> blocked_paths(const replay::Run& run) {
  std::vector<CallPathId> found(run.callpaths.size(), CallPathId::none());
  bool any = false;
  for (size_t i = 0; i < found.size(); ++i) {
    if (pseudo_at(run, CallPathId(i)) != trace::Pseudo::blocked_unknown) continue;
    found[i] = CallPathId(i);
    any = true;
  }
  if (!any) found.clear();
  return found;
}

/// `places`: by CallPathId: the place that time there belongs to; none if it is explained.
std::vector<Mystery> time_at(const replay::Run& run, LocationId id,
                             const Column<replay::Wait>& waits,
                             const std::vector<CallPathId>& places) {
  std::vector<Mystery> found;
  if (places.empty()) return found;
  for_each_stretch(run, id, waits, run.begin, run.end,
                   [&](Time begin, Time end, CallPathId path, const replay::Wait* wait) {
                     const CallPathId place = places[path.index()];
                     if (wait != nullptr || !place.valid()) return;
                     found.push_back({place, begin, end, (end - begin).seconds()});
                   });
  return found;
}

void add_tiles(const replay::Run& run, const Explanations& all, const std::vector<PathKind>& kinds,
               const std::vector<Tile>& tiles, LocationId id, std::vector<FoundTile>& rows) {
  TileSums sums;
  for (const PathTime& entry : all.profiles[id.index()]) {
    if (run.between(id, entry.path)) continue;
    sums.add(tiles[entry.path.index()], entry.path, entry.time.seconds());
  }
  for (const WaitSum& sum : all.waits[id.index()]) {
    const bool start_up = kinds[sum.path.index()] == PathKind::start_up;
    const Tile tile = start_up                                 ? Tile::start_up
                      : replay::counts_as_waiting(sum.pattern) ? Tile::waiting
                                                               : Tile::polling;
    sums.add(tile, sum.path, sum.time.seconds());
  }
  sums.write(id, rows);
}

/// Returns the waiting for which the delay analysis found no cause.
std::vector<Mystery> without_cause(const Explained& given, LocationId id) {
  std::vector<Mystery> found;
  const Column<WaitCause>& causes = given.all.delays.causes[id.index()];
  for (uint32_t w = 0; w < causes.size(); ++w) {
    const replay::Wait& wait = given.graph.wait(id, w);
    if (!replay::counts_as_waiting(wait.pattern) || replay::is_before_begin(wait.pattern)) continue;
    const double part = causes[w].share * causes[w].late.unexplained(wait.amount);
    if (part <= 0) continue;
    found.push_back({wait.path, wait.begin, wait.end, part * wait.amount.seconds()});
  }
  std::sort(found.begin(), found.end(),
            [](const Mystery& a, const Mystery& b) { return a.begin < b.begin; });
  return found;
}

/// The shortest stretch from a begin to an end with most of the time.
std::pair<Time, Time> shortest_stretch(std::span<const Mystery> list, double all_s) {
  std::pair<Time, Time> best{list.front().begin, list.back().end};
  double inside_s = 0;
  size_t first = 0;
  for (const Mystery& last : list) {
    inside_s += last.time_s;
    while (inside_s - list[first].time_s >= kMostOfIt * all_s) inside_s -= list[first++].time_s;
    if (inside_s < kMostOfIt * all_s) continue;
    if (last.end - list[first].begin < best.second - best.first) {
      best = {list[first].begin, last.end};
    }
  }
  return best;
}

void add_unexplained(const replay::Run& run, Unexplained kind, LocationId id,
                     const std::vector<Mystery>& list, std::vector<FoundUnexplained>& rows) {
  std::map<CallPathId, std::vector<Mystery>> by_path;
  for (const Mystery& one : list) by_path[one.path].push_back(one);
  for (const auto& [path, some] : by_path) {
    FoundUnexplained row{kind, path, id, some.size()};
    for (const Mystery& one : some) row.time_s += one.time_s;
    const auto [begin, end] = shortest_stretch(some, row.time_s);
    row.begin_s = (begin - run.begin).seconds();
    row.end_s = (end - run.begin).seconds();
    rows.push_back(row);
  }
}

/// The call paths at which threads of the same process computed while one spun; if none did, those
/// of other processes of the node, which may share memory with it.
class Meanwhile {
 public:
  Meanwhile(const Explained& given, const std::vector<Tile>& tiles)
      : given_(given), tiles_(tiles) {}

  /// Fills in the location and call path that computed for the longest time.
  void find(std::span<const Mystery> spun, FoundUnexplained& row) const {
    const ProcessId process = given_.run.location(row.location).process;
    const std::string& node = given_.run.definitions->processes[process.index()].node;
    std::vector<LocationId> beside, on_node;
    for (const LocationId other : given_.run.locations) {
      if (other == row.location || given_.run.is_stream(other)) continue;
      const ProcessId others = given_.run.location(other).process;
      if (others == process) {
        beside.push_back(other);
      } else if (given_.run.definitions->processes[others.index()].node == node) {
        on_node.push_back(other);
      }
    }
    for (const LocationId other : beside) look_at(other, spun, kEnough, row);
    if (row.meanwhile_s >= kHalf * row.time_s) return;
    const size_t enough = std::max(kFew, kEnough / std::max<size_t>(1, on_node.size()));
    for (const LocationId other : on_node) look_at(other, spun, enough, row);
  }

 private:
  /// At most this many intervals are looked at: a sample of that size represents the others.
  static constexpr size_t kEnough = 1000, kFew = 20;
  static constexpr double kHalf = 0.5;

  void look_at(LocationId other, std::span<const Mystery> spun, size_t enough,
               FoundUnexplained& row) const {
    const auto& waits = given_.graph.waits[other.index()];
    const size_t step = (spun.size() + enough - 1) / enough;
    std::map<CallPathId, double> sums;
    for (size_t i = 0; i < spun.size(); i += step) {
      for_each_stretch(given_.run, other, waits, spun[i].begin, spun[i].end,
                       [&](Time begin, Time end, CallPathId path, const replay::Wait* wait) {
                         if (wait != nullptr || tiles_[path.index()] != Tile::useful) return;
                         sums[path] += (end - begin).seconds();
                       });
    }
    for (const auto& [path, time_s] : sums) {
      const double all_s = std::min(row.time_s, time_s * static_cast<double>(step));
      if (all_s <= row.meanwhile_s) continue;
      row.meanwhile = path, row.meanwhile_at = other, row.meanwhile_s = all_s;
    }
  }

  const Explained& given_;
  const std::vector<Tile>& tiles_;
};

void add_spinning(const Explained& given, const std::vector<Tile>& tiles, LocationId id,
                  const std::vector<Mystery>& list, std::vector<FoundUnexplained>& rows) {
  const size_t before = rows.size();
  add_unexplained(given.run, Unexplained::spinning, id, list, rows);
  const Meanwhile meanwhile(given, tiles);
  for (size_t i = before; i < rows.size(); ++i) {
    std::vector<Mystery> own;
    std::copy_if(list.begin(), list.end(), std::back_inserter(own),
                 [&](const Mystery& one) { return one.path == rows[i].callpath; });
    meanwhile.find(own, rows[i]);
  }
}

}  // namespace

std::vector<FoundTile> find_tiles(const replay::Run& run, const Explanations& all,
                                  unsigned threads) {
  const std::vector<PathKind> kinds = path_kinds(run);
  const std::vector<Tile> tiles = tiles_of(run, kinds, spinning_paths(run));
  std::vector<std::vector<FoundTile>> by_location(run.locations.size());
  parallel_for(by_location.size(), threads, [&](size_t i) {
    const LocationId id = run.locations[i];
    if (!run.is_stream(id)) add_tiles(run, all, kinds, tiles, id, by_location[i]);
  });
  std::vector<FoundTile> found;
  for (const auto& rows : by_location) found.insert(found.end(), rows.begin(), rows.end());
  return found;
}

void explain_audit(const Explained& given, Findings& found) {
  const replay::Run& run = given.run;
  const std::vector<PathKind> kinds = path_kinds(run);
  const std::vector<CallPathId> blocked = blocked_paths(run), spinning = spinning_paths(run);
  const std::vector<Tile> tiles = tiles_of(run, kinds, spinning);
  std::vector<std::vector<FoundUnexplained>> by_location(run.locations.size());
  parallel_for(by_location.size(), given.threads, [&](size_t i) {
    const LocationId id = run.locations[i];
    if (run.is_stream(id)) return;
    const auto& waits = given.graph.waits[id.index()];
    add_unexplained(run, Unexplained::long_call, id,
                    too_long_calls(run, id, waits, given.graph.long_calls[id.index()], kinds),
                    by_location[i]);
    add_unexplained(run, Unexplained::no_cause, id, without_cause(given, id), by_location[i]);
    add_unexplained(run, Unexplained::blocked, id, time_at(run, id, waits, blocked),
                    by_location[i]);
    add_spinning(given, tiles, id, time_at(run, id, waits, spinning), by_location[i]);
  });
  for (const auto& rows : by_location) {
    found.unexplained.insert(found.unexplained.end(), rows.begin(), rows.end());
  }
  found.tiles = find_tiles(run, given.all, given.threads);
  for (size_t p = 0; p < run.definitions->processes.size(); ++p) {
    if (!run.owns(ProcessId(p))) continue;
    const auto rows = find_shared_calls(run, given.graph, kinds, ProcessId(p));
    found.shared_calls.insert(found.shared_calls.end(), rows.begin(), rows.end());
  }
}

}  // namespace culprit::blame
