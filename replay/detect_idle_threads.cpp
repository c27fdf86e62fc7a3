// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Idle threads: a thread of an OpenMP pool that is in no team waits for its master's next fork;
// after its last team, for the master's end. The cause is whatever the master did meanwhile.
#include "base/parallel.h"
#include "replay/detection.h"

namespace culprit::replay {

namespace {

/// A fork that ended the idleness of a worker: the master's side of that synchronisation point.
struct Awakening {
  LocationId master;
  LocationId worker;
  Time fork;
};

class IdleDetector {
 public:
  IdleDetector(const Run& run, Detection& out) : run_(run), out_(out) {
    awakenings_.resize(run.timelines.size());
  }

  void visit(LocationId id) {
    const Timeline& line = run_.at(id);
    const LocationId master = run_.master_of(id);
    if (id == master || line.teams.empty() || run_.at(master).empty()) return;
    Time idle_since = run_.at(master).first;
    for (const TeamSpan& team : line.teams) {
      if (team.begin < idle_since) continue;  // nested in the team before
      if (team.fork.valid()) {
        const Time fork = run_.at(team.fork_location).forks[team.fork.index()].time;
        add(id, idle_since, fork, team.fork_location);
      }
      idle_since = team.end;
    }
    add(id, idle_since, run_.at(master).last, master);
  }

  /// The masters' sides, which belong to other locations than the ones visited.
  void finish() {
    for (const std::vector<Awakening>& list : awakenings_) {
      for (const Awakening& a : list) {
        out_.at(a.master).sync({a.fork, a.fork, a.worker, a.fork, GroupId::none(), 0});
      }
    }
  }

 private:
  void add(LocationId id, Time since, Time until, LocationId master) {
    if (until <= since) return;
    Findings& found = out_.at(id);
    found.wait(pattern("omp.idle_threads"), run_.idle, since, until, until, master, until);
    found.sync({since, until, master, until, GroupId::none(), 0});
    awakenings_[id.index()].push_back({master, id, until});
  }

  const Run& run_;
  Detection& out_;
  std::vector<std::vector<Awakening>> awakenings_;  // by worker
};

}  // namespace

void detect_idle_threads(Run& run, unsigned threads, Detection& out) {
  IdleDetector detector(run, out);
  parallel_for(run.locations.size(), threads, [&](size_t i) { detector.visit(run.locations[i]); });
  detector.finish();
}

}  // namespace culprit::replay
