// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Idle threads: a thread of an OpenMP pool that is in no team waits for the next fork that uses it,
// whichever thread forks then (with nested regions, a member of another team). While a smaller team
// works without it, it waits for that team: for the threads that arrive last at its barriers, in
// equal parts where several arrive about as late. After its last team it waits for the end of the
// pool's leader, if the runtime has not ended it; and if that was not the process's first thread,
// then for the end of that one. The cause is the awaited thread's activity meanwhile. A thread
// whose first team is its own belongs to no pool: the program created it, and decides what it does.
#include <algorithm>
#include <tuple>

#include "replay/detect/openmp_detectors.h"
#include "replay/match/threads/barriers.h"

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

/// Barriers of teams that leave threads of their pool out.
class SmallerTeams {
 public:
  /// A barrier of a team that leaves threads of its pool out.
  struct Meanwhile {
    Time begin, end;  ///< from the fork, or the barrier before, to the last arrival
    LocationId master;
    size_t first, count;  ///< of late_: who was about as late as the last, by arrival
  };
  struct Late {
    Time time;
    LocationId location;
  };

  explicit SmallerTeams(const Teams& teams) : teams_(teams), run_(teams.run()) {
    size_t largest = 0;
    for (size_t t = 0; t < teams_.size(); ++t) {
      const TeamNumber team(t);
      if (teams_.members(team).empty() || run_.is_pool_thread(teams_.master(team))) continue;
      largest = std::max(largest, teams_.members(team).size());
    }
    TeamNumber current;
    Time since;
    Barriers(teams_).for_each([&](TeamNumber team, size_t, std::span<const Arrival> arrivals) {
      if (arrivals.size() == largest || run_.is_pool_thread(teams_.master(team))) return;
      if (team != current) current = team, since = teams_.fork(team).time;
      since = add_barrier(teams_.master(team), since, arrivals);
    });
    std::stable_sort(meanwhile_.begin(), meanwhile_.end(),
                     [](const Meanwhile& a, const Meanwhile& b) { return a.end < b.end; });
  }

  /// The barriers, sorted by their end.
  const std::vector<Meanwhile>& barriers() const { return meanwhile_; }
  std::span<const Late> late(const Meanwhile& barrier) const {
    return std::span(late_).subspan(barrier.first, barrier.count);
  }

 private:
  Time add_barrier(LocationId master, Time since, std::span<const Arrival> arrivals) {
    constexpr ptrdiff_t kMostLate = 8;
    constexpr int64_t kAboutAsLate = 10;  ///< of the wait, the part by which one may be earlier
    Time last = since;
    for (const Arrival& arrival : arrivals) last = std::max(last, arrival.enter);
    if (last == since) return last;
    Meanwhile barrier{since, last, master, late_.size(), 0};
    for (const Arrival& arrival : arrivals) {
      if ((last - arrival.enter).nanos() * kAboutAsLate > (last - since).nanos()) continue;
      late_.push_back({arrival.enter, arrival.location});
    }
    const auto first = late_.begin() + static_cast<ptrdiff_t>(barrier.first);
    std::stable_sort(first, late_.end(),
                     [](const Late& a, const Late& b) { return a.time < b.time; });
    if (late_.end() - first > kMostLate) late_.erase(first, late_.end() - kMostLate);
    barrier.count = late_.size() - barrier.first;
    meanwhile_.push_back(barrier);
    return last;
  }

  const Teams& teams_;
  const Run& run_;
  std::vector<Meanwhile> meanwhile_;
  std::vector<Late> late_;
};

class IdleDetector {
 public:
  explicit IdleDetector(const OpenmpProcess& process)
      : process_(process), teams_(process.teams), run_(process.run()), smaller_(teams_) {}

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
        if (wait_for_teams(id, idle_since, fork, leader)) awakenings_.push_back({team, id});
      }
      idle_since = span.end;
    }
    if (line.ended) return;
    const LocationId last = pool_of(leader);
    await_end(id, idle_since, last);
    if (last != master) await_end(id, std::max(idle_since, run_.at(last).last), master);
  }

  /// A thread that is created for a nested team and ends with it waits for no fork: it begins
  /// there, and until then the forking thread is accountable for it, as for threads that the
  /// program creates.
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

  /// Returns the leader of the pool to which a forking thread belongs: itself, or the thread that
  /// forked the first team that it was in, and so on.
  LocationId pool_of(LocationId id) const {
    for (size_t steps = 0; steps < teams_.locations().size(); ++steps) {
      if (!run_.is_pool_thread(id) || !run_.at(id).teams.front().fork.valid()) break;
      id = run_.at(id).teams.front().fork_location;
    }
    return id;
  }

  using Meanwhile = SmallerTeams::Meanwhile;

  /// Waits for smaller teams until `leader` forks; of many barriers in between, only for the
  /// longest.
  bool wait_for_teams(LocationId id, Time since, Time until, LocationId leader) {
    constexpr ptrdiff_t kMostBarriers = 16;
    if (until <= since) return false;
    const std::vector<Meanwhile>& all = smaller_.barriers();
    const auto begins = std::partition_point(all.begin(), all.end(),
                                             [&](const Meanwhile& m) { return m.end <= since; });
    const auto ends =
        std::partition_point(begins, all.end(), [&](const Meanwhile& m) { return m.end <= until; });
    Duration shortest = Duration::zero();
    std::vector<Duration> lengths;
    for (auto m = begins; m != ends; ++m) {
      if (m->master == leader) lengths.push_back(m->end - m->begin);
    }
    if (std::ssize(lengths) > kMostBarriers) {
      const auto nth = lengths.end() - kMostBarriers;
      std::nth_element(lengths.begin(), nth, lengths.end());
      shortest = *nth;
    }
    for (auto m = begins; m != ends; ++m) {
      if (m->master != leader || m->end - m->begin < shortest || m->end <= since) continue;
      if (since < m->begin) wait(id, since, m->begin, leader), meet_two(id, leader, m->begin);
      since = wait_for_late(id, std::max(since, m->begin), *m);
    }
    return wait(id, since, until, leader) || since == until;
  }

  Time wait_for_late(LocationId id, Time since, const Meanwhile& barrier) {
    const Duration share =
        Duration::from_nanos((barrier.end - since).nanos() / static_cast<int64_t>(barrier.count));
    const std::span<const SmallerTeams::Late> all = smaller_.late(barrier);
    // Synchronise at the start, so that earlier delays of these threads are not blamed for this
    // phase.
    for (const SmallerTeams::Late& one : all) meet_two(id, one.location, since);
    for (const SmallerTeams::Late& one : all) {
      const LocationId late = one.location;
      const Time end = &one == &all.back() ? barrier.end : since + share;
      if (wait(id, since, end, late)) meet_two(id, late, barrier.end);
      since = end;
    }
    meet_two(id, barrier.master,
             barrier.end);  // master and idle thread continue together, as the team does
    return barrier.end;
  }

  void meet_two(LocationId a, LocationId b, Time moment) { process_.out.meet(a, b, moment); }

  bool wait(LocationId id, Time since, Time until, LocationId leader) {
    if (until <= since) return false;
    process_.out.at(id).wait(pattern("omp.idle_threads"), run_.idle, since, until, until, leader);
    return true;
  }

  void await_end(LocationId id, Time since, LocationId leader) {
    if (wait(id, since, run_.at(leader).last, leader)) endings_.push_back({leader, id});
  }

  /// A fork synchronises the master and all threads that it woke up, every two of them.
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
  const SmallerTeams smaller_;
  std::vector<Awakening> awakenings_;
  std::vector<Ending> endings_;
  std::vector<LocationId> members_;
};

}  // namespace

void detect_idle_threads(const OpenmpProcess& process) {
  IdleDetector(process).detect();
}

}  // namespace culprit::replay
