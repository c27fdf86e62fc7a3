// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// See course.h. The index of call paths answers what an interval holds besides waits, so long runs
// cost no more than short ones; waits are cut at the intervals' borders one by one.

#include "blame/course.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "base/parallel.h"
#include "blame/equal_parts.h"
#include "blame/stretches.h"
#include "replay/ranks/exchange.h"

namespace culprit::blame {
namespace {

using replay::Run;

/// What one location did in one interval.
struct Cell {
  size_t interval;
  CallPathId path;
  TimeShare share;
};

void add(TimeShare& to, const TimeShare& more) {
  to.time += more.time;
  to.waiting += more.waiting;
}

/// By interval and call path, in order.
class CellsOf {
 public:
  CellsOf(const Run& run, LocationId id, const EqualParts& intervals)
      : run_(run), id_(id), intervals_(intervals) {}

  void add_work(const PathTimes& times, PathSums& sums) {
    const Run::Life life = run_.life(id_);
    for (size_t i = 0; i < intervals_.count(); ++i) {
      const Time begin = std::max(life.begin, intervals_.edge(i));
      const Time end = std::min(life.end, intervals_.edge(i + 1));
      if (begin >= end) continue;
      sums.clear();
      times.sum(begin, end, sums);
      for (CallPathId path : sums.paths()) {
        if (!run_.between(id_, path)) add(cells_[{i, path}], {sums[path], {}});
      }
    }
  }

  void add_waits(const Column<replay::Wait>& waits) {
    const Run::Life life = run_.life(id_);
    for (const replay::Wait& wait : waits) {
      if (replay::is_before_begin(wait.pattern)) continue;
      const bool counts = replay::counts_as_waiting(wait.pattern);
      const Time begin = std::max(wait.begin, life.begin), end = std::min(wait.end, life.end);
      for_each_stretch(run_, id_, waits, begin, end,
                       [&](Time since, Time until, CallPathId path, const replay::Wait* inside) {
                         if (inside == &wait) add_wait(since, until, path, counts);
                       });
    }
  }

  std::vector<Cell> take() const {
    std::vector<Cell> cells;
    cells.reserve(cells_.size());
    for (const auto& [key, share] : cells_) cells.push_back({key.first, key.second, share});
    return cells;
  }

 private:
  void add_wait(Time since, Time until, CallPathId path, bool counts) {
    intervals_.split(since, until, [&](size_t i, Duration time) {
      add(cells_[{i, path}], {time, counts ? time : Duration::zero()});
    });
  }

  const Run& run_;
  const LocationId id_;
  const EqualParts& intervals_;
  std::map<std::pair<size_t, CallPathId>, TimeShare> cells_;
};

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

/// For each location of the run, the first of its group.
std::vector<LocationId> find_groups_of(const Run& run) {
  const auto& processes = run.definitions->processes;
  const size_t groups = std::min(processes.size(), kMostCourseGroups);
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

using Cube = std::map<std::tuple<LocationId, size_t, CallPathId>, TimeShare>;

/// Those of all ranks, on rank 0.
void join_ranks(const Run& run, Cube& cube) {
  if (run.ranks->alone()) return;
  replay::Packer own;
  for (const auto& [key, share] : cube) {
    own.put(std::get<0>(key)), own.put(uint64_t{std::get<1>(key)}), own.put(std::get<2>(key));
    own.put(share.time.nanos()), own.put(share.waiting.nanos());
  }
  cube.clear();
  for (const replay::Parcel& parcel : replay::gather(*run.ranks, own.take())) {
    for (replay::Unpacker from(parcel); !from.done();) {
      const auto first = from.get<LocationId>();
      const auto interval = static_cast<size_t>(from.get<uint64_t>());
      const auto path = from.get<CallPathId>();
      const auto time = Duration::from_nanos(from.get<int64_t>());
      add(cube[{first, interval, path}], {time, Duration::from_nanos(from.get<int64_t>())});
    }
  }
}

}  // namespace

size_t course_intervals(size_t locations) {
  return locations <= 1024 ? 200 : locations <= 8192 ? 100 : 50;
}

TimeCourse find_course_of_run(const Run& run, const replay::WaitGraph& graph,
                              const std::vector<PathTimes>& times, unsigned threads) {
  const EqualParts intervals(run.begin, run.wall(), course_intervals(run.timelines.size()));
  std::vector<std::vector<Cell>> cells(run.locations.size());
  parallel_for(
      run.locations.size(), threads, [&] { return PathSums(run.callpaths.size()); },
      [&](size_t i, PathSums& sums) {
        const LocationId id = run.locations[i];
        CellsOf of(run, id, intervals);
        of.add_work(times[id.index()], sums);
        of.add_waits(graph.waits[id.index()]);
        cells[i] = of.take();
      });
  TimeCourse course;
  course.intervals = intervals.count();
  const std::vector<LocationId> group_of = find_groups_of(run);
  Cube cube;
  for (size_t i = 0; i < cells.size(); ++i) {
    const LocationId id = run.locations[i];
    list_intervals(id, cells[i], course.locations);
    for (const Cell& cell : cells[i]) {
      add(cube[{group_of[id.index()], cell.interval, cell.path}], cell.share);
    }
  }
  join_ranks(run, cube);
  for (const auto& [key, share] : cube) {
    course.callpaths.push_back({std::get<0>(key), std::get<1>(key), std::get<2>(key), share});
  }
  return course;
}

}  // namespace culprit::blame
