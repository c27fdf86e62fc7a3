// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// See time_series.h. The index PathTimes returns the time of an interval without waits, so long
// runs cost no more than short ones; waits are cut at the intervals' borders one by one.

#include "blame/profile/time_series.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <span>
#include <utility>

#include "base/parallel.h"
#include "base/ranks/exchange.h"
#include "blame/profile/equal_parts.h"
#include "blame/profile/stretches.h"

namespace culprit::blame {
namespace {

using replay::Run;

/// A call path has a row if it has at least 1/kLeastOfInterval of its group's time in the interval.
constexpr int64_t kLeastOfInterval = 200;

/// One location's time at one call path in one interval.
struct Cell {
  size_t interval;
  CallPathId path;
  TimeShare share;
};

void add(TimeShare& to, const TimeShare& more) {
  to.time += more.time;
  to.waiting += more.waiting;
}

/// The part of a wait that lies in one interval.
struct WaitPiece {
  size_t interval;
  CallPathId path;
  TimeShare share;
};

/// Waits cut at the intervals' borders, in order of time.
std::vector<WaitPiece> cut_waits(const Run& run, LocationId id, const EqualParts& intervals,
                                 const Column<replay::Wait>& waits) {
  std::vector<WaitPiece> pieces;
  const Run::Life life = run.life(id);
  const replay::Activities& activities = run.at(id).activities;
  for (const replay::Wait& wait : waits) {
    if (replay::is_before_begin(wait.pattern)) continue;
    const bool counts = replay::counts_as_waiting(wait.pattern);
    const Time begin = std::max(wait.begin, life.begin), end = std::min(wait.end, life.end);
    const auto add_stretch = [&](Time since, Time until, CallPathId path) {
      intervals.split(since, until, [&](size_t i, Duration time) {
        pieces.push_back({i, path, {time, counts ? time : Duration::zero()}});
      });
    };
    const CallPathId path = activities.path(wait.activity);
    if (begin == wait.begin && end <= activities.end(wait.activity)) {  // nearly all
      if (waits_at(run, wait, path)) add_stretch(begin, end, path);
      continue;
    }
    for_each_stretch(run, id, waits, begin, end,
                     [&](Time since, Time until, CallPathId path, const replay::Wait* inside) {
                       if (inside == &wait) add_stretch(since, until, path);
                     });
  }
  return pieces;
}

/// A location's cells, by interval and call path.
std::vector<Cell> cells_of(const Run& run, LocationId id, const EqualParts& intervals,
                           const PathTimes& times, const std::vector<WaitPiece>& waits,
                           PathSums& sums) {
  std::vector<Cell> cells;
  const Run::Life life = run.life(id);
  size_t wait = 0;
  for (size_t i = 0; i < intervals.count(); ++i) {
    const size_t first = cells.size();
    const Time begin = std::max(life.begin, intervals.edge(i));
    const Time end = std::min(life.end, intervals.edge(i + 1));
    sums.clear();
    if (begin < end) times.sum(begin, end, sums);
    for (CallPathId path : sums.paths()) {
      if (!run.between(id, path)) cells.push_back({i, path, {sums[path], {}}});
    }
    for (; wait < waits.size() && waits[wait].interval == i; ++wait) {
      const auto known =
          std::find_if(cells.begin() + static_cast<std::ptrdiff_t>(first), cells.end(),
                       [&](const Cell& cell) { return cell.path == waits[wait].path; });
      if (known != cells.end()) {
        add(known->share, waits[wait].share);
      } else {
        cells.push_back({i, waits[wait].path, waits[wait].share});
      }
    }
    std::sort(cells.begin() + static_cast<std::ptrdiff_t>(first), cells.end(),
              [](const Cell& a, const Cell& b) { return a.path < b.path; });
  }
  return cells;
}

/// Its cells, joined over call paths. Cells are in order of interval.
void list_intervals(LocationId id, const std::vector<Cell>& cells,
                    std::vector<LocationInterval>& into) {
  for (size_t i = 0; i < cells.size();) {
    LocationInterval row{id, cells[i].interval, {}, cells[i].path};
    Duration most;
    for (; i < cells.size() && cells[i].interval == row.interval; ++i) {
      add(row.share, cells[i].share);
      if (cells[i].share.time > most) most = cells[i].share.time, row.path = cells[i].path;
    }
    into.push_back(row);
  }
}

/// Returns for each location of the run the first one of its group.
std::vector<LocationId> find_groups_of(const Run& run) {
  const auto& processes = run.definitions->processes;
  const size_t groups = std::min(processes.size(), kMostSeriesGroups);
  std::vector<LocationId> first_of(groups), group_of(run.timelines.size());
  for (size_t p = 0; p < processes.size(); ++p) {
    LocationId& first = first_of[p * groups / processes.size()];
    for (LocationId id : processes[p].locations) {
      if (!first.valid()) first = id;
      group_of[id.index()] = first;
    }
  }
  return group_of;
}

/// Sorts the cells, and joins those of the same interval and call path.
void join_equals(std::vector<Cell>& cells) {
  const auto place = [](const Cell& cell) { return std::pair(cell.interval, cell.path); };
  std::sort(cells.begin(), cells.end(),
            [&](const Cell& a, const Cell& b) { return place(a) < place(b); });
  size_t to = 0;
  for (size_t i = 0; i < cells.size(); ++i) {
    if (to > 0 && place(cells[to - 1]) == place(cells[i])) {
      add(cells[to - 1].share, cells[i].share);
    } else {
      cells[to++] = cells[i];
    }
  }
  cells.resize(to);
}

using Groups = std::map<LocationId, std::vector<Cell>>;  ///< by the first location

Groups sum_groups(const Run& run, const std::vector<std::vector<Cell>>& cells, unsigned threads) {
  const std::vector<LocationId> group_of = find_groups_of(run);
  std::map<LocationId, std::vector<size_t>> members;
  for (size_t i = 0; i < cells.size(); ++i) {
    members[group_of[run.locations[i].index()]].push_back(i);
  }
  Groups groups;
  std::vector<std::pair<std::vector<Cell>*, const std::vector<size_t>*>> work;
  for (const auto& [first, all] : members) work.emplace_back(&groups[first], &all);
  parallel_for(work.size(), threads, [&](size_t g) {
    for (const size_t i : *work[g].second) {
      work[g].first->insert(work[g].first->end(), cells[i].begin(), cells[i].end());
    }
    join_equals(*work[g].first);
  });
  return groups;
}

/// Of one interval, in order of call path: what has hardly any of its time goes to its caller, so
/// that an interval has few rows and what stands at a caller is still all below it.
void fold_trifles(const Run& run, std::span<const Cell> cells, std::vector<Cell>& into) {
  Duration sum;
  for (const Cell& cell : cells) sum += cell.share.time;
  const Duration least = Duration::from_nanos(sum.nanos() / kLeastOfInterval);
  std::map<CallPathId, TimeShare> open;
  for (const Cell& cell : cells) open[cell.path] = cell.share;
  const size_t first = into.size();
  while (!open.empty()) {  // callees have larger numbers than their callers
    const auto [path, share] = *std::prev(open.end());
    open.erase(std::prev(open.end()));
    const CallPathId caller = run.callpaths[path].parent;
    if (share.time < least && caller.valid()) {
      add(open[caller], share);
    } else {
      into.push_back({cells.front().interval, path, share});
    }
  }
  std::reverse(into.begin() + static_cast<std::ptrdiff_t>(first), into.end());
}

std::vector<Cell> without_trifles(const Run& run, const std::vector<Cell>& cells) {
  std::vector<Cell> kept;
  for (size_t i = 0; i < cells.size();) {
    size_t end = i;
    while (end < cells.size() && cells[end].interval == cells[i].interval) ++end;
    fold_trifles(run, {cells.data() + i, end - i}, kept);
    i = end;
  }
  return kept;
}

/// Joins the groups of all ranks on rank 0.
void join_ranks(const Run& run, Groups& groups) {
  if (run.ranks->alone()) return;
  Packer own;
  for (const auto& [first, cells] : groups) {
    for (const Cell& cell : cells) {
      own.put(first), own.put(uint64_t{cell.interval}), own.put(cell.path);
      own.put(cell.share.time.nanos()), own.put(cell.share.waiting.nanos());
    }
  }
  groups.clear();
  for (const Parcel& parcel : gather(*run.ranks, own.take())) {
    for (Unpacker from(parcel); !from.done();) {
      const auto first = from.get<LocationId>();
      const auto interval = static_cast<size_t>(from.get<uint64_t>());
      const auto path = from.get<CallPathId>();
      const auto time = Duration::from_nanos(from.get<int64_t>());
      const auto waiting = Duration::from_nanos(from.get<int64_t>());
      groups[first].push_back({interval, path, {time, waiting}});
    }
  }
  for (auto& [first, cells] : groups) join_equals(cells);
}

}  // namespace

size_t series_intervals(size_t locations) {
  return locations <= 1024 ? 200 : locations <= 8192 ? 100 : 50;
}

TimeSeries find_time_series(const Run& run, const replay::WaitGraph& graph,
                            const std::vector<PathTimes>& times, unsigned threads) {
  const EqualParts intervals(run.begin, run.wall(), series_intervals(run.timelines.size()));
  std::vector<std::vector<Cell>> cells(run.locations.size());
  parallel_for(
      run.locations.size(), threads, [&] { return PathSums(run.callpaths.size()); },
      [&](size_t i, PathSums& sums) {
        const LocationId id = run.locations[i];
        const auto waits = cut_waits(run, id, intervals, graph.waits[id.index()]);
        cells[i] = cells_of(run, id, intervals, times[id.index()], waits, sums);
      });
  TimeSeries series;
  series.intervals = intervals.count();
  for (size_t i = 0; i < cells.size(); ++i) {
    list_intervals(run.locations[i], cells[i], series.locations);
  }
  Groups groups = sum_groups(run, cells, threads);
  join_ranks(run, groups);
  for (const auto& [first, all] : groups) {
    for (const Cell& cell : without_trifles(run, all)) {
      series.callpaths.push_back({first, cell.interval, cell.path, cell.share});
    }
  }
  return series;
}

}  // namespace culprit::blame
