// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Idle threads: a thread of an OpenMP pool that is in no team waits for the next fork that uses it,
// whoever forks then (with nested regions, a member of another team); forks in between that leave
// it out, since their teams are smaller, do not count. After its last team it waits for the end of
// the pool's leader, if the runtime has not ended it, and if that was not the process's first
// thread, for that one's. The cause is whatever the awaited thread did meanwhile. A thread whose
// first team is its own belongs to no pool: the program made it, and knows what it does.
#include <algorithm>
#include <tuple>

#include "replay/detect/openmp_detectors.h"

namespace culprit::replay {

namespace {

/// The end of a worker's idleness, by a fork or by the end of another thread.
struct Awakening {
  TeamNumber team;
  LocationId worker;
};
struct Ending {
  LocationId leader;
  LocationId worker;
};

class IdleDetector {
 public:
  explicit IdleDetector(const OpenmpProcess& process)
      : process_(process), teams_(process.teams), run_(process.run()) {}

  void detect() {
    for (LocationId id : teams_.locations()) visit(id);
    synchronise_forks();
    synchronise_ends();
  }

 private:
  void visit(LocationId id) {
    const Timeline& line = run_.at(id);
    const LocationId master = run_.master_of(id);
    if (line.for_one_team) return begin_with_forks(id);
    if (!run_.is_pool_thread(id)) return;
    LocationId leader = master;
    Time idle_since = run_.at(master).first;
    for (const TeamSpan& span : line.teams) {
      if (span.begin < idle_since) continue;  // nested in the team before
      const TeamNumber team = teams_.of(span);
      if (team.valid()) {
        leader = span.fork_location;
        const Time fork = teams_.fork(team).time;
        if (wait(id, idle_since, fork, leader)) awakenings_.push_back({team, id});
      }
      idle_since = span.end;
    }
    if (line.ended) return;
    const LocationId last = pool_of(leader);
    await_end(id, idle_since, last);
    if (last != master) await_end(id, std::max(idle_since, run_.at(last).last), master);
  }

  /// A thread that is made for a nested team and ends with it waits for no fork: it begins there,
  /// and until then was in the hands of who forks, as threads are that the program makes.
  void begin_with_forks(LocationId id) {
    for (const TeamSpan& span : run_.at(id).teams) {
      const TeamNumber team = teams_.of(span);
      if (!team.valid() || span.fork_location == id) continue;
      awakenings_.push_back({team, id});
      const Activities& life = run_.at(id).activities;
      size_t before = life.after(span.begin);
      while (before > 0 && life.path(before) != run_.not_started) --before;
      const Time since = life.begin(before), until = life.end(before);
      const Time fork = teams_.fork(team).time;
      if (life.path(before) != run_.not_started || fork > until) continue;
      process_.out.at(id).wait(pattern("thread.begin"), run_.not_started, since, until, fork,
                               span.fork_location);
    }
  }

  /// The leader of the pool to which a forking thread belongs: itself, or who forked the first team
  /// that it was in, and so on.
  LocationId pool_of(LocationId id) const {
    for (size_t steps = 0; steps < teams_.locations().size(); ++steps) {
      if (!run_.is_pool_thread(id) || !run_.at(id).teams.front().fork.valid()) break;
      id = run_.at(id).teams.front().fork_location;
    }
    return id;
  }

  bool wait(LocationId id, Time since, Time until, LocationId leader) {
    if (until <= since) return false;
    process_.out.at(id).wait(pattern("omp.idle_threads"), run_.idle, since, until, until, leader);
    return true;
  }

  void await_end(LocationId id, Time since, LocationId leader) {
    if (wait(id, since, run_.at(leader).last, leader)) endings_.push_back({leader, id});
  }

  /// A fork joins the master and all whom it awakened, each two of them: they go on together.
  void synchronise_forks() {
    std::stable_sort(awakenings_.begin(), awakenings_.end(),
                     [](const Awakening& a, const Awakening& b) { return a.team < b.team; });
    for (size_t i = 0; i < awakenings_.size();) {
      const TeamNumber team = awakenings_[i].team;
      const Time fork = teams_.fork(team).time;
      members_.assign(1, teams_.master(team));
      for (; i < awakenings_.size() && awakenings_[i].team == team; ++i) {
        members_.push_back(awakenings_[i].worker);
      }
      meet(fork);
    }
  }

  void synchronise_ends() {
    std::stable_sort(endings_.begin(), endings_.end(),
                     [](const Ending& a, const Ending& b) { return a.leader < b.leader; });
    for (size_t i = 0; i < endings_.size();) {
      const LocationId leader = endings_[i].leader;
      const Time end = run_.at(leader).last;
      members_.assign(1, leader);
      for (; i < endings_.size() && endings_[i].leader == leader; ++i) {
        members_.push_back(endings_[i].worker);
      }
      meet(end);
    }
  }

  void meet(Time moment) {
    std::sort(members_.begin(), members_.end());
    process_.syncs.add(members_, moment);
  }

  const OpenmpProcess& process_;
  const Teams& teams_;
  const Run& run_;
  std::vector<Awakening> awakenings_;
  std::vector<Ending> endings_;
  std::vector<LocationId> members_;
};

}  // namespace

void detect_idle_threads(const OpenmpProcess& process) {
  IdleDetector(process).detect();
}

}  // namespace culprit::replay
