// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>

#include "tests/unit/blame/random_program.h"

namespace culprit::testing_support {

using trace::EventSink;
using trace::RegionInstance;

/// Some ranks fork teams of any size at once; their threads work, meet at barriers, exclude each
/// other and send messages to threads of other ranks.
void RandomProgram::parallel_regions() {
  std::vector<Team> teams;
  for (uint32_t r = 0; r < ranks_; ++r) {
    if (!toss(3)) teams.push_back(fork(r, pick(1, threads_)));
  }
  if (teams.empty()) return;
  for (uint32_t steps = pick(1, 4); steps > 0; --steps) {
    for (const Team& team : teams) {
      for (LocationId at : team.members) {
        if (toss()) work(at);
      }
    }
    const Team& team = teams[pick(0, static_cast<uint32_t>(teams.size()) - 1)];
    const Team& other = teams[pick(0, static_cast<uint32_t>(teams.size()) - 1)];
    const uint32_t what = pick(0, 3);
    if (what == 0) barrier(team, "!$omp barrier", false);
    if (what == 1) critical(team);
    if (what == 2 && team.rank != other.rank) {
      const uint32_t from = pick(0, static_cast<uint32_t>(team.members.size()) - 1);
      const uint32_t to = pick(0, static_cast<uint32_t>(other.members.size()) - 1);
      // A tag for each pair of threads.
      message(team.members[from], other.members[to], static_cast<int32_t>(100 + 10 * from + to),
              toss() ? Sending::eager : Sending::synchronous, Receiving::blocking);
    }
  }
  for (const Team& team : teams) join(team);
}

RandomProgram::Team RandomProgram::fork(uint32_t rank, uint32_t size) {
  const RegionInstance instance{++instances_};
  const LocationId head = master(rank);
  const int64_t forked = now(head);
  put(head, forked, [=](EventSink& sink, Time t) { sink.thread_fork(t, size, instance); });
  Team team{rank, {}};
  for (uint32_t t = 0; t < size; ++t) {
    const LocationId at = place(rank, t);
    team.members.push_back(at);
    const bool sleepy = t > 0 && toss(4);
    now(at) = forked + (sleepy ? last_for(10) : 0);
    put(at, now(at), [=](EventSink& sink, Time time) { sink.thread_team_begin(time, instance); });
    enter(at, "!$omp parallel");
  }
  return team;
}

void RandomProgram::join(const Team& team) {
  barrier(team, "!$omp implicit barrier", true);
  const LocationId head = team.members.front();
  put(head, now(head), [](EventSink& sink, Time t) { sink.thread_join(t); });
}

/// `ends`: the one at the region's end, which all leave together.
void RandomProgram::barrier(const Team& team, std::string_view name, bool ends) {
  int64_t last = 0;
  for (LocationId at : team.members) last = std::max(last, now(at));
  const int64_t end = last + last_for(1);
  for (LocationId at : team.members) {
    enter(at, name);
    if (toss(4) && now(at) < last) {  // a task that somebody left lying
      const int64_t from = now(at) + (last - now(at)) / 3;
      now(at) = from;
      enter(at, "!$omp task");
      leave(at, from + (last - from) / 2, "!$omp task");
    }
    leave(at, end, name);
    if (!ends) continue;
    leave(at, end, "!$omp parallel");
    put(at, end, [](EventSink& sink, Time t) { sink.thread_team_end(t); });
  }
}

/// All ask when they come, and get it one after the other.
void RandomProgram::critical(const Team& team) {
  std::vector<LocationId> queue = team.members;
  std::sort(queue.begin(), queue.end(),
            [&](LocationId a, LocationId b) { return now(a) != now(b) ? now(a) < now(b) : a < b; });
  int64_t free = 0;
  for (LocationId at : queue) {
    enter(at, "!$omp critical");
    now(at) = std::max(now(at), free) + last_for(1);
    put(at, now(at),
        [](EventSink& sink, Time t) { sink.mutex_acquired(t, trace::MutexKind::critical, 5); });
    enter(at, "!$omp critical body");
    leave(at, now(at) + last_for(10), "!$omp critical body");
    put(at, now(at),
        [](EventSink& sink, Time t) { sink.mutex_released(t, trace::MutexKind::critical, 5); });
    free = now(at);
    leave(at, free, "!$omp critical");
  }
}

}  // namespace culprit::testing_support
