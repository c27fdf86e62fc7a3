// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// OpenMP's teams: a thread joins one after the fork, and leaves a barrier after all have arrived
// and the tasks that the barrier waits for are complete. A taskwait and the end of a taskgroup come
// after all tasks that they wait for. Tasks stay on the threads that ran them; one runs after it
// was created and what it depends on is complete.
#include <algorithm>
#include <cmath>
#include <span>
#include <tuple>
#include <utility>

#include "base/flat_map.h"
#include "base/parallel.h"
#include "predict/rerun/depend/task_lengths.h"
#include "predict/rerun/dependences.h"
#include "replay/match/process_tasks.h"
#include "replay/match/teams.h"
#include "replay/match/threads/awaited_tasks.h"
#include "replay/match/threads/barriers.h"

namespace culprit::predict {

namespace {

using replay::Arrival;
using replay::ProcessTasks;
using replay::Run;
using replay::TeamNumber;
using replay::Teams;
using replay::TeamSpan;

/// How large the teams of a process are, and which of them are inside others.
class Pools {
 public:
  explicit Pools(const Teams& teams) : teams_(teams) {
    for (size_t t = 0; t < teams.size(); ++t) {
      const TeamNumber team(t);
      if (teams.members(team).empty()) continue;
      uint32_t& size = sizes_.at(teams.master(team).index(), 0);
      size = std::max(size, static_cast<uint32_t>(teams.members(team).size()));
    }
  }

  /// Returns the number of threads of the master's pool that are not in the team. Threads of inner
  /// teams are not considered.
  uint16_t free(TeamNumber team, size_t busy) const {
    const LocationId master = teams_.master(team);
    if (teams_.run().is_pool_thread(master)) return 0;
    const uint32_t size = sizes_.find(master.index());
    if (size == FlatMap::kNone || size <= busy) return 0;
    return static_cast<uint16_t>(std::min<size_t>(size - busy, UINT16_MAX));
  }

  void write(Dependences& found) const {
    for (LocationId id : teams_.locations()) {
      const uint32_t size = sizes_.find(id.index());
      if (size == FlatMap::kNone || teams_.run().is_pool_thread(id)) continue;
      if (found.pools.size() <= id.index()) found.pools.resize(id.index() + 1);
      found.pools[id.index()] = size;
    }
  }

 private:
  const Teams& teams_;
  FlatMap sizes_;  ///< by LocationId of the master
};

/// The fork, and when each member's way to the team can begin: it has left what it did before.
void add_forks(const Run& run, const Teams& teams, const Pools& pools, Dependences& found) {
  std::vector<HubId> hubs(teams.size());
  for (LocationId id : teams.locations()) {
    Time before = Time::min();
    for (const TeamSpan& span : run.at(id).teams) {
      const TeamNumber team = teams.of(span);
      const Time fork = team.valid() ? teams.fork(team).time : Time::min();
      if (team.valid() && teams.master(team) != id) {
        HubId& hub = hubs[team.index()];
        if (!hub.valid()) {
          hub = found.add_hub();
          found.meet(hub, {.of = Meeting::Of::fork, .free = pools.free(team, 1)});
          found.signal(hub, {teams.master(team), fork, fork});
        }
        // It has waited since it left the team before: this ends before it forks one itself.
        const Time gate = before <= fork ? std::min(fork, span.begin) : span.begin;
        const Moment waited = before == Time::min() ? Moment::first(id, gate)
                                                    : Moment{id, gate, std::min(before, gate)};
        found.gate(hub, waited);
      }
      before = std::max(before, span.end);
    }
  }
}

using Awaited = ProcessTasks::Awaited;

std::span<const Awaited> of_barrier(std::span<const Awaited> all, TeamNumber team, size_t n) {
  const auto by_barrier = [](const Awaited& a, const Awaited& b) {
    return std::tie(a.team, a.barrier) < std::tie(b.team, b.barrier);
  };
  const auto [first, last] =
      std::equal_range(all.begin(), all.end(), Awaited{team, n, {}}, by_barrier);
  return {first, last};
}

/// The barrier's tasks that ended after its first thread had come.
void await_tasks(const ProcessTasks& tasks, std::span<const Awaited> awaited, Time first,
                 HubId barrier, Dependences& found) {
  HubId done;  // of its own: who arrives signals the barrier's once
  for (const Awaited& one : awaited) {
    const ProcessTasks::Moment& end = tasks.end(one.task);
    if (!end.happened() || end.time <= first) continue;
    if (!done.valid()) {
      done = found.add_hub();
      found.hubs[done.index()].next = barrier;
      ++found.hubs[barrier.index()].signals;
    }
    found.signal(done, Moment::first(end.location, end.time));
    Hub& hub = found.hubs[barrier.index()];
    hub.time = std::max(hub.time, end.time);
  }
}

/// A thread's work in loops with dynamic schedules: the length of one iteration, best known from
/// threads that executed few of them in a visit; the longest rest when no iterations were left; and
/// the number of iterations per thread.
class Iterations {
 public:
  explicit Iterations(const Run& run) : run_(run) {}

  /// Of visits since the barrier before.
  void add(std::span<const Arrival> arrivals, Meeting& barrier) {
    double sum = 0, shortest = 0, longest = 0, portion = 1;
    Time first = Time::max(), last = Time::min();
    for (const Arrival& arrival : arrivals) {
      const Column<LoopVisit>& visits = run_.at(arrival.location).openmp.loop_visits;
      uint32_t& next = next_.at(arrival.location.index(), 0);
      first = std::min(first, arrival.enter), last = std::max(last, arrival.enter);
      for (; next < visits.size() && visits[next].end <= arrival.enter; ++next) {
        const double iterations = visits[next].iterations;
        const double each =
            static_cast<double>((visits[next].end - visits[next].begin).nanos()) / iterations;
        shortest = sum == 0 ? each : std::min(shortest, each);
        longest = std::max(longest, each);
        portion = std::max(portion, iterations / visits[next].chunks);
        sum += iterations;
      }
    }
    if (sum == 0) return;
    const double rounds = std::ceil(sum / static_cast<double>(arrivals.size() + barrier.free));
    const double left = static_cast<double>((last - first).nanos()) / portion;
    barrier.iterations = static_cast<float>(std::max({longest, rounds * shortest, left}));
  }

 private:
  using LoopVisit = replay::LoopVisit;
  const Run& run_;
  FlatMap next_;  ///< by LocationId, the first visit that is not counted
};

void add_barriers(const Teams& teams, const Pools& pools, const ProcessTasks& tasks,
                  Dependences& found) {
  const std::vector<Awaited> awaited = tasks.awaited_in_barriers();
  const TaskLengths lengths(teams, tasks);
  Iterations iterations(teams.run());
  replay::Barriers(teams).for_each([&](TeamNumber team, size_t n,
                                       std::span<const Arrival> arrivals) {
    const HubId hub = found.add_hub();
    Time earliest = Time::max();
    for (const Arrival& arrival : arrivals) {
      found.signal(hub, {arrival.location, arrival.enter, arrival.enter});
      earliest = std::min(earliest, arrival.enter);
    }
    const std::span<const Awaited> own = of_barrier(awaited, team, n);
    await_tasks(tasks, own, earliest, hub, found);
    Meeting meeting{.of = Meeting::Of::team, .free = pools.free(team, arrivals.size())};
    iterations.add(arrivals, meeting);
    for (const Awaited& one : own) lengths.add(one.task, meeting);
    found.meet(hub, meeting);
    const Time released = found.hubs[hub.index()].time;
    for (const Arrival& arrival : arrivals) {
      const Time gate = std::clamp(released, arrival.enter, std::max(arrival.enter, arrival.leave));
      found.gate(hub, {arrival.location, gate, arrival.enter});
    }
  });
}

void add_task_runs(const Run& run, const Teams& teams, const ProcessTasks& tasks,
                   Dependences& found) {
  for (LocationId id : teams.locations()) {
    for (const replay::TaskRun& part : run.at(id).openmp.task_runs) {
      const ProcessTasks::Index task = tasks.find(part.task);
      if (!task.valid()) continue;
      const Moment begin{id, part.begin, part.begin};
      const Time created = tasks.creation(task).time;
      const ProcessTasks::Moment ready = tasks.ready(task);
      if (created <= part.begin) found.edge({tasks.creator(task), created, created}, begin);
      if (ready.happened() && ready.time <= part.begin) {
        found.edge(Moment::first(ready.location, ready.time), begin);
      }
    }
  }
}

/// A thread that waits for its child tasks, or for a group's tasks, continues after the last of
/// them; tasks that it runs meanwhile come before.
void add_task_waits(const Run& run, const Teams& teams, const ProcessTasks& tasks,
                    Dependences& found) {
  const replay::AwaitedTasks all(teams, tasks);
  std::vector<std::pair<size_t, ProcessTasks::Index>> awaited;
  all.for_each([&](size_t visit, ProcessTasks::Index task) { awaited.emplace_back(visit, task); });
  std::sort(awaited.begin(), awaited.end());
  size_t first = 0;
  auto next = awaited.begin();
  for (LocationId id : teams.locations()) {
    const replay::OpenmpFacts& facts = run.at(id).openmp;
    for (const replay::TaskWaitVisit& visit : facts.task_waits) {
      const size_t number = first++;
      const HubId hub = found.add_hub();
      for (; next != awaited.end() && next->first == number; ++next) {
        const ProcessTasks::Moment& end = tasks.end(next->second);
        if (!end.happened() || end.location == id || end.time > visit.leave) continue;
        found.signal(hub, Moment::first(end.location, end.time));
      }
      const Time since = visit.last_run == UINT32_MAX
                             ? visit.enter
                             : std::max(visit.enter, facts.task_runs[visit.last_run].end);
      if (found.hubs[hub.index()].signals == 0 || since > visit.leave) continue;
      const Time gate = std::clamp(found.hubs[hub.index()].time, since, visit.leave);
      found.gate(hub, {id, gate, since});
    }
  }
}

}  // namespace

void add_openmp(const Run& run, unsigned threads, Dependences& found) {
  const std::vector<trace::Process>& processes = run.definitions->processes;
  std::vector<Dependences> parts(processes.size());
  parallel_for(processes.size(), threads, [&](size_t p) {
    if (!run.owns(ProcessId(p))) return;
    std::vector<LocationId> locations;
    for (LocationId id : processes[p].locations) {
      if (!run.at(id).empty()) locations.push_back(id);
    }
    std::sort(locations.begin(), locations.end());
    parts[p] = part_of(found);
    const Teams teams(run, locations);
    const ProcessTasks tasks(teams);
    const Pools pools(teams);
    pools.write(parts[p]);
    for (LocationId id : locations) {
      const std::vector<CallPathId>& loops = run.at(id).openmp.loops;
      parts[p].loops.insert(parts[p].loops.end(), loops.begin(), loops.end());
    }
    add_forks(run, teams, pools, parts[p]);
    add_barriers(teams, pools, tasks, parts[p]);
    add_task_runs(run, teams, tasks, parts[p]);
    add_task_waits(run, teams, tasks, parts[p]);
    add_locks(run, ProcessId(p), parts[p]);
  });
  for (Dependences& part : parts) found.append(std::move(part));
}

}  // namespace culprit::predict
