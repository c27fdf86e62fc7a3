// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Idle threads: a thread of an OpenMP pool that is in no team waits for its master's next fork;
// after its last team, for the master's end. The cause is whatever the master did meanwhile. A
// thread that forks teams itself belongs to no pool: the program made it, and knows what it does.
#include <algorithm>
#include <span>
#include <tuple>

#include "replay/detection.h"

namespace culprit::replay {

namespace {

/// The end of a worker's idleness.
struct Awakening {
  LocationId master;
  Time fork;
  LocationId worker;
  Time since;
};

class IdleDetector {
 public:
  IdleDetector(const Run& run, Detection& out) : run_(run), out_(out) {}

  void visit(LocationId id) {
    const Timeline& line = run_.at(id);
    const LocationId master = run_.master_of(id);
    if (id == master || line.teams.empty() || run_.at(master).empty()) return;
    if (leads_a_pool(id)) return;
    LocationId leader = master;
    Time idle_since = run_.at(master).first;
    for (const TeamSpan& team : line.teams) {
      if (team.begin < idle_since) continue;  // nested in the team before
      if (team.fork.valid()) {
        leader = team.fork_location;
        const Time fork = run_.at(leader).forks[team.fork.index()].time;
        add(id, idle_since, fork, leader);
      }
      idle_since = team.end;
    }
    add(id, idle_since, run_.at(leader).last, leader);
  }

  /// A fork joins the master and all whom it awakened, each two of them: they go on together.
  void synchronise() {
    std::sort(awakenings_.begin(), awakenings_.end(), [](const Awakening& a, const Awakening& b) {
      return std::tie(a.master, a.fork, a.worker) < std::tie(b.master, b.fork, b.worker);
    });
    for (size_t i = 0; i < awakenings_.size();) {
      size_t j = i;
      while (j < awakenings_.size() && awakenings_[j].master == awakenings_[i].master &&
             awakenings_[j].fork == awakenings_[i].fork) {
        ++j;
      }
      join(std::span(awakenings_).subspan(i, j - i));
      i = j;
    }
  }

 private:
  /// Its first team is its own.
  bool leads_a_pool(LocationId id) const {
    const TeamSpan& first = run_.at(id).teams.front();
    return first.fork.valid() && first.fork_location == id;
  }

  void add(LocationId id, Time since, Time until, LocationId master) {
    if (until <= since) return;
    out_.at(id).wait(pattern("omp.idle_threads"), run_.idle, since, until, until, master, until);
    awakenings_.push_back({master, until, id, since});
  }

  void join(std::span<const Awakening> awakened) {
    const LocationId master = awakened[0].master;
    const Time fork = awakened[0].fork;
    std::vector<LocationId> members{master};
    for (const Awakening& a : awakened) members.push_back(a.worker);
    std::sort(members.begin(), members.end());
    const GroupId group = out_.group_of(members);
    const Instance instance = out_.next_instance();
    out_.at(master).sync(Sync::of(group, instance, fork));
    for (const Awakening& a : awakened) out_.at(a.worker).sync(Sync::of(group, instance, fork));
  }

  const Run& run_;
  Detection& out_;
  std::vector<Awakening> awakenings_;
};

}  // namespace

void detect_idle_threads(Run& run, unsigned, Detection& out) {
  IdleDetector detector(run, out);
  for (LocationId id : run.locations) detector.visit(id);
  detector.synchronise();
}

}  // namespace culprit::replay
