// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Frames that stay open from one visit to the next are not entered again; two visits of one path
// are told apart by entering its last frame twice. A worker's frames begin below its master's fork.
#include "tests/support/text/lanes.h"

#include <algorithm>
#include <cstdio>
#include <tuple>

#include "tests/support/text/mpi.h"
#include "tests/support/text/names.h"
#include "trace/source.h"

namespace culprit::trace {

namespace {

using Path = std::vector<std::string>;

constexpr long long kLastCell = 1'000'000;  // its time stays within 64 bits

RegionId region(const std::string& name, Draft& draft) {
  auto [it, fresh] = draft.regions.try_emplace(name, RegionId(draft.definitions.regions.size()));
  if (fresh) draft.definitions.regions.push_back(region_from_name(name));
  return it->second;
}

void define_location(const Sketch::Lane& lane, Definitions& defs) {
  while (defs.processes.size() <= lane.rank) {
    const auto rank = static_cast<uint32_t>(defs.processes.size());
    defs.processes.push_back({"MPI Rank " + std::to_string(rank), "node", rank, {}});
  }
  Process& process = defs.processes[lane.rank];
  if (!lane.node.empty()) process.node = lane.node;
  process.locations.emplace_back(defs.locations.size());
  defs.locations.push_back(
      {lane.thread == 0 ? "Master thread" : "OMP thread " + std::to_string(lane.thread),
       LocationKind::cpu_thread, ProcessId(lane.rank), lane.thread,
       (uint64_t{lane.thread} << 32) | lane.rank, 0});
}

Result<void> define_comms(const std::vector<Comm>& comms, Definitions& defs) {
  Comm world{"MPI_COMM_WORLD", CommKind::mpi_world, {}, {}};
  for (size_t p = 0; p < defs.processes.size(); ++p) world.members.emplace_back(p);
  defs.comms.push_back(std::move(world));
  for (const Comm& comm : comms) {
    if (!members_have_lanes(defs, comm)) return Error{"a member has no lane"};
    defs.comms.push_back(comm);
  }
  for (const Process& process : defs.processes) {
    if (process.locations.empty()) return Error{"a rank has no lane"};
  }
  return {};
}

/// Each member of its communicator has the place of its rank there.
Result<void> define_grids(const std::vector<Grid>& grids, Definitions& defs) {
  for (Grid grid : grids) {
    if (grid.comm.index() >= defs.comms.size()) return Error{"a grid has no communicator"};
    const std::vector<ProcessId>& members = defs.comms[grid.comm.index()].members;
    for (size_t rank = 0; rank < members.size(); ++rank) {
      GridPlace place{members[rank], std::vector<uint32_t>(grid.dimensions.size())};
      size_t rest = rank;
      for (size_t d = grid.dimensions.size(); d-- > 0;) {
        place.coordinates[d] = static_cast<uint32_t>(rest % grid.dimensions[d].size);
        rest /= grid.dimensions[d].size;
      }
      if (rest > 0) return Error{"a grid is too small for its communicator"};
      grid.places.push_back(std::move(place));
    }
    defs.grids.push_back(std::move(grid));
  }
  return {};
}

TextLane visits_of(const std::string& cells, const std::map<char, Path>& paths) {
  TextLane lane;
  for (size_t i = 0; i < cells.size();) {
    size_t j = i;
    while (j < cells.size() && cells[j] == cells[i]) ++j;
    lane.visits.push_back({static_cast<int64_t>(i), static_cast<int64_t>(j),
                           cells[i] != '.' ? paths.at(cells[i]) : Path()});
    i = j;
  }
  return lane;
}

size_t common_prefix(const Path& a, const Path& b) {
  size_t n = 0;
  while (n < a.size() && n < b.size() && a[n] == b[n]) ++n;
  return n;
}

/// How many frames stay open on a lane across the boundary at `cell`.
size_t frames_across(const TextLane& lane, int64_t cell) {
  const Path* before = nullptr;
  const Path* after = nullptr;
  for (const LaneVisit& visit : lane.visits) {
    if (visit.end == cell) before = &visit.path;
    if (visit.begin == cell) after = &visit.path;
  }
  return before != nullptr && after != nullptr ? common_prefix(*before, *after) : 0;
}

/// How many frames of a visit at `begin` are the master's (the worker's own come after them).
size_t masters_frames(const TextLane& lane, int64_t begin) {
  for (size_t i = 0; i < lane.teams.size(); ++i) {
    if (lane.teams[i].first <= begin && begin < lane.teams[i].second) return lane.team_prefix[i];
  }
  return 0;
}

void leave(size_t lane, int64_t cell, Path& open, Draft& draft) {
  const RegionId id = region(open.back(), draft);
  open.pop_back();
  draft.add({lane, cell, TextStep::leave, [=](EventSink& sink, Time t) { sink.leave(t, id); }});
}

}  // namespace

void Draft::add(const TextEvent& event) {
  actions[event.lane].push_back({Time::from_nanos(event.cell * unit), event.step, event.play});
}

Result<Draft> begin_draft(const Sketch& sketch) {
  Draft draft;
  draft.unit = sketch.unit;
  draft.definitions.creator = sketch.ours ? kOwnCreator : "text";
  for (const Sketch::Lane& lane : sketch.lanes) {
    define_location(lane, draft.definitions);
    draft.lanes.push_back(visits_of(lane.cells, sketch.paths));
  }
  draft.actions.resize(draft.lanes.size());
  if (auto defined = define_comms(sketch.comms, draft.definitions); !defined) {
    return defined.error();
  }
  if (auto defined = define_grids(sketch.grids, draft.definitions); !defined) {
    return defined.error();
  }
  return draft;
}

Result<TextPlace> place_of(const Draft& draft, const std::string& word) {
  unsigned rank = 0, thread = 0;
  long long at = 0, until = 0;
  const int fields = std::sscanf(word.c_str(), "%u.%u@%lld-%lld", &rank, &thread, &at, &until);
  if (fields < 2) return Error{"expected rank.thread[@time], found " + word};
  const auto& processes = draft.definitions.processes;
  if (rank >= processes.size() || thread >= processes[rank].locations.size()) {
    return Error{"no lane " + word};
  }
  const auto drawn = [](long long cell) { return cell >= 0 && cell <= kLastCell; };
  if (!drawn(at) || !drawn(until)) return Error{"beyond any lane: " + word};
  TextPlace place{processes[rank].locations[thread].index(), {}, {}};
  if (fields >= 3) place.at = at;
  if (fields == 4) place.until = until;
  return place;
}

Result<int64_t> end_of_visit(const Draft& draft, const TextPlace& place) {
  for (const LaneVisit& visit : draft.lanes[place.lane].visits) {
    if (visit.begin == place.at && !visit.path.empty()) return visit.end;
  }
  return Error{place.at ? "no call begins at " + std::to_string(*place.at)
                        : "a call needs its time"};
}

Result<void> take_fork(const std::vector<std::string>& words, Draft& draft) {
  std::string first = words.size() > 1 ? words[1] : "";
  if (!first.empty() && first.back() == ':') first.pop_back();
  const auto master = place_of(draft, first);
  if (!master) return master.error();
  const TextPlace& fork = master.value();
  if (!fork.until) return Error{"fork <lane>@<fork>-<join>: ..."};
  const RegionInstance instance{++draft.teams};
  const auto size = static_cast<uint32_t>(words.size() - 2);
  draft.add({fork.lane, *fork.at, TextStep::fork,
             [=](EventSink& sink, Time t) { sink.thread_fork(t, size, instance); }});
  draft.add({fork.lane, *fork.until, TextStep::join,
             [](EventSink& sink, Time t) { sink.thread_join(t); }});
  const size_t prefix = frames_across(draft.lanes[fork.lane], *fork.at);
  for (size_t i = 2; i < words.size(); ++i) {
    const auto found = place_of(draft, words[i]);
    if (!found) return found.error();
    const TextPlace& member = found.value();
    const int64_t begin = member.at.value_or(*fork.at);
    const int64_t end = member.until.value_or(*fork.until);
    draft.lanes[member.lane].teams.emplace_back(begin, end);
    draft.lanes[member.lane].team_prefix.push_back(member.lane == fork.lane ? 0 : prefix);
    draft.add({member.lane, begin, TextStep::team_begin,
               [=](EventSink& sink, Time t) { sink.thread_team_begin(t, instance); }});
    draft.add({member.lane, end, TextStep::team_end,
               [](EventSink& sink, Time t) { sink.thread_team_end(t); }});
  }
  return {};
}

void finish_lane(size_t index, Draft& draft) {
  const TextLane& lane = draft.lanes[index];
  Path open;
  int64_t end = 0;
  for (const LaneVisit& visit : lane.visits) {
    const size_t skip = std::min(masters_frames(lane, visit.begin), visit.path.size());
    const Path path(visit.path.begin() + static_cast<long>(skip), visit.path.end());
    size_t keep = common_prefix(open, path);
    if (keep == open.size() && keep == path.size() && keep > 0) --keep;  // a second visit
    while (open.size() > keep) leave(index, visit.begin, open, draft);
    for (size_t f = keep; f < path.size(); ++f) {
      const RegionId id = region(path[f], draft);
      draft.add({index, visit.begin, TextStep::enter,
                 [=](EventSink& sink, Time t) { sink.enter(t, id); }});
      open.push_back(path[f]);
    }
    end = visit.end;
  }
  while (!open.empty()) leave(index, end, open, draft);
  auto& actions = draft.actions[index];
  std::stable_sort(actions.begin(), actions.end(), [](const auto& a, const auto& b) {
    return std::tie(a.time, a.step) < std::tie(b.time, b.step);
  });
}

}  // namespace culprit::trace
