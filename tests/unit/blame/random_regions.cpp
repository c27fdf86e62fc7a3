// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>

#include "tests/unit/blame/random_program.h"

namespace culprit::testing_support {

using trace::EventSink;
using trace::RegionInstance;
using trace::TaskId;

/// Some ranks fork teams of any size at once; threads of different ranks send each other messages.
void RandomProgram::parallel_regions() {
  std::vector<Team> teams;
  for (uint32_t r = 0; r < ranks_; ++r) {
    if (toss(3)) continue;
    std::vector<LocationId> members;
    const uint32_t size = pick(1, threads_);
    for (uint32_t t = 0; t < size; ++t) members.push_back(place(r, t));
    teams.push_back(fork(r, "!$omp parallel", std::move(members)));
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
    if (toss() || team.rank == other.rank) {
      in_region(team);
      continue;
    }
    const LocationId from = any_member(team), to = any_member(other);
    // A tag for each pair of threads.
    const auto thread = [&](LocationId id) {
      return static_cast<int32_t>(trace_.definitions_.locations[id.index()].thread);
    };
    message(from, to, 100 + 10 * thread(from) + thread(to),
            toss() ? Sending::eager : Sending::synchronous, Receiving::blocking);
  }
  for (const Team& team : teams) join(team);
}

void RandomProgram::in_region(const Team& team) {
  switch (pick(0, 4)) {
    case 0:
      return barrier(team, "!$omp barrier");
    case 1:
      return critical(team);
    case 2:
      return single(team);
    case 3:
      return tasks(team);
    default:
      return nested_region(team);
  }
}

RandomProgram::Team RandomProgram::fork(uint32_t rank, std::string_view region,
                                        std::vector<LocationId> members) {
  const RegionInstance instance{++instances_};
  const LocationId head = members.front();
  const int64_t forked = now(head);
  put(head, forked, [=, size = static_cast<uint32_t>(members.size())](EventSink& sink, Time t) {
    sink.thread_fork(t, size, instance);
  });
  for (LocationId at : members) {
    now(at) = forked + (at != head && toss(4) ? last_for(10) : 0);  // some sleep
    put(at, now(at), [=](EventSink& sink, Time time) { sink.thread_team_begin(time, instance); });
    enter(at, region);
  }
  return {rank, region, std::move(members)};
}

/// By any member, with threads that nobody uses at the moment.
void RandomProgram::nested_region(const Team& team) {
  const LocationId head = any_member(team);
  std::vector<LocationId> members{head};
  for (uint32_t t = 0; t < threads_; ++t) {
    const LocationId at = place(team.rank, t);
    const bool used = std::find(team.members.begin(), team.members.end(), at) != team.members.end();
    if (!used && now(at) <= now(head)) members.push_back(at);
  }
  if (members.size() == 1) return;
  const Team inner = fork(team.rank, "!$omp parallel inner", std::move(members));
  for (LocationId at : inner.members) work(at);
  if (toss()) critical(inner);
  join(inner);
}

void RandomProgram::join(const Team& team) {
  barrier(team, "!$omp implicit barrier");
  for (LocationId at : team.members) {
    leave(at, now(at), team.region);
    put(at, now(at), [](EventSink& sink, Time t) { sink.thread_team_end(t); });
  }
  const LocationId head = team.members.front();
  put(head, now(head), [](EventSink& sink, Time t) { sink.thread_join(t); });
}

/// All leave it together.
void RandomProgram::barrier(const Team& team, std::string_view name) {
  int64_t last = 0;
  for (LocationId at : team.members) last = std::max(last, now(at));
  const int64_t end = last + last_for(1);
  for (LocationId at : team.members) {
    enter(at, name);
    leave(at, end, name);
  }
}

/// All ask when they come, and get it one after the other.
void RandomProgram::critical(const Team& team) {
  std::vector<LocationId> queue = team.members;
  std::sort(queue.begin(), queue.end(),
            [&](LocationId a, LocationId b) { return now(a) != now(b) ? now(a) < now(b) : a < b; });
  // Nested teams of a process would use the same lock at other times.
  const uint64_t lock = instances_;
  int64_t free = 0;
  for (LocationId at : queue) {
    enter(at, "!$omp critical");
    now(at) = std::max(now(at), free) + last_for(1);
    put(at, now(at),
        [=](EventSink& sink, Time t) { sink.mutex_acquired(t, trace::MutexKind::critical, lock); });
    enter(at, "!$omp critical body");
    leave(at, now(at) + last_for(10), "!$omp critical body");
    put(at, now(at),
        [=](EventSink& sink, Time t) { sink.mutex_released(t, trace::MutexKind::critical, lock); });
    free = now(at);
    leave(at, free, "!$omp critical");
  }
}

/// One does it, the others wait for it.
void RandomProgram::single(const Team& team) {
  const LocationId at = any_member(team);
  enter(at, "!$omp single");
  leave(at, now(at) + last_for(20), "!$omp single");
  barrier(team, "!$omp implicit barrier");
}

/// One creates tasks, and may wait for them; who has come to the barrier runs them, and so does the
/// creator while it waits. Each goes to whom it can begin at first.
void RandomProgram::tasks(const Team& team) {
  const LocationId creator = any_member(team);
  std::vector<std::pair<TaskId, int64_t>> queue;
  for (uint32_t n = pick(1, 5); n > 0; --n) {
    now(creator) += last_for(10);
    const TaskId task{trace_.definitions_.locations[creator.index()].thread, ++tasks_};
    put(creator, now(creator), [=](EventSink& sink, Time t) {
      sink.task_create(t, task);
      sink.fact(t, trace::Fact::task_flags, 0x04);  // explicit
    });
    queue.emplace_back(task, now(creator));
  }
  const bool waits = toss();
  for (LocationId at : team.members) {
    enter(at, at == creator && waits ? "!$omp taskwait" : "!$omp barrier");
  }
  int64_t done = 0;
  for (const auto& [task, created] : queue) {
    const auto begin = [&, created = created](LocationId at) { return std::max(now(at), created); };
    const LocationId at =
        *std::min_element(team.members.begin(), team.members.end(),
                          [&](LocationId a, LocationId b) { return begin(a) < begin(b); });
    done = std::max(done, run_task(task, at, begin(at)));
  }
  if (waits) {
    leave(creator, std::max(now(creator), done) + last_for(1), "!$omp taskwait");
    enter(creator, "!$omp barrier");
  }
  int64_t last = done;
  for (LocationId at : team.members) last = std::max(last, now(at));
  last += last_for(1);
  for (LocationId at : team.members) leave(at, last, "!$omp barrier");
}

/// Returns its end.
int64_t RandomProgram::run_task(TaskId task, LocationId at, int64_t begin) {
  now(at) = begin;
  put(at, begin, [=](EventSink& sink, Time t) { sink.task_switch(t, task); });
  enter(at, "!$omp task");
  leave(at, begin + last_for(15), "!$omp task");
  put(at, now(at), [=](EventSink& sink, Time t) {
    sink.task_complete(t, task);
    sink.task_switch(t, {});
  });
  return now(at);
}

}  // namespace culprit::testing_support
