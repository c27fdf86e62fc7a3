// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Teams: who is called, who works, who waits in which barrier, and who is let go by whom.
#include <algorithm>

#include "fold/potential/potential.h"

namespace culprit::fold {

Team* Potential::find_team(uint32_t region, Link& link) {
  const uint32_t slot = region % kTeams;
  link = link_to(slot);
  return region != 0 && teams_[slot].region == region ? &teams_[slot] : nullptr;
}

void Potential::fork(uint32_t number, uint32_t region, uint32_t size) {
  if (region == 0) return;
  Link link = 0;
  find_team(region, link);
  Team& team = teams_[number_of(link)];
  if (team.region != 0) dissolve(link);
  team = {};
  team.region = region;
  team.size = size;
  team.master = number;
  if (size < 2) return;
  if (threads_[number].crew == 0) found_crew(number);
  Crew& crew = crew_of(threads_[number]);
  team.called = size - 1;
  team.forked = time_;
  team.alone_then = crew.idle_alone();
  if (team.called > crew.free_threads()) note_alone(threads_[number].crew);
  crew.call(static_cast<int>(team.called));
}

/// A worker that begins anew has left all else, whether or not it said so.
void Potential::enter_team(uint32_t number, uint32_t region, uint32_t size) {
  TeamThread& thread = threads_[number];
  Link link = 0;
  Team* const team = find_team(region, link);
  const bool own = team != nullptr && team->master == number;
  if (!own) {
    cut(number, 0);
    unlink(number);
  }
  if (team != nullptr) team->size = std::max(team->size, size);
  if (team != nullptr && !own) {
    thread.pool = true;
    join_crew_of(number, *team);
    thread.member_of = link;
    thread.next = team->first;
    if (team->first != 0) threads_[number_of(team->first)].previous = link_to(number);
    team->first = link_to(number);
    if (team->called > 0) {
      --team->called;
      crew_of(threads_[team->master]).call(-1);
    }
  }
  push(number, 0, team != nullptr ? link : Link{0}, {});
}

void Potential::unlink(uint32_t number) {
  TeamThread& thread = threads_[number];
  if (thread.member_of == 0) return;
  if (thread.previous != 0) {
    threads_[number_of(thread.previous)].next = thread.next;
  } else {
    teams_[number_of(thread.member_of)].first = thread.next;
  }
  if (thread.next != 0) threads_[number_of(thread.next)].previous = thread.previous;
  thread.member_of = thread.next = thread.previous = 0;
}

/// A worker left in time, before the thread that forked.
void Potential::leave_team(uint32_t number, uint32_t region) {
  Link link = 0;
  if (find_team(region, link) == nullptr) return;
  TeamThread& thread = threads_[number];
  const uint32_t depth =
      thread.find([&](const Level& level) { return level.team == link && level.task == 0; });
  if (depth > 0) cut(number, depth - 1);
}

void Potential::join(uint32_t number, uint32_t region) {
  Link link = 0;
  if (find_team(region, link) == nullptr) return;
  leave_team(number, region);
  dissolve(link);
}

/// The team is no more: its members are in the pool again.
void Potential::dissolve(Link link) {
  Team& team = teams_[number_of(link)];
  Crew& crew = crew_of(threads_[team.master]);
  crew.pass(time_);
  while (team.first != 0) {
    const uint32_t member = number_of(team.first);
    unlink(member);
    cut(member, 0);
    settle(member);
  }
  crew.call(-static_cast<int>(team.called));
  team.ready_tasks = 0;
  count_handed(team);
  team.region = 0;
}

void Potential::arrive(uint32_t number, uint32_t region) {
  Link link = 0;
  Team* const team = find_team(region, link);
  if (team == nullptr) return;
  TeamThread& thread = threads_[number];
  const uint32_t depth =
      thread.find([&](const Level& level) { return level.team == link && level.task == 0; });
  if (depth == 0) return;
  cut(number, depth);
  Level& level = thread.levels[depth - 1];
  if (level.waits == WaitFor::barrier) return;
  level.waits = WaitFor::barrier;
  ++team->here;
  release_if_complete(link);
}

/// Nobody leaves a barrier before all may: the last arrival was not listed, or the team had a task
/// whose end was not.
void Potential::depart(uint32_t number, uint32_t region, bool taken_back) {
  Link link = 0;
  Team* const team = find_team(region, link);
  if (team == nullptr) return;
  TeamThread& thread = threads_[number];
  const uint32_t depth =
      thread.find([&](const Level& level) { return level.team == link && level.task == 0; });
  if (depth == 0 || thread.levels[depth - 1].waits != WaitFor::barrier) return;
  if (!taken_back) return release(link);
  thread.levels[depth - 1].waits = WaitFor::nothing;
  if (team->here > 0) --team->here;
}

void Potential::release_if_complete(Link link) {
  const Team& team = teams_[number_of(link)];
  if (team.here >= team.size && team.open_tasks == 0) release(link);
}

void Potential::release(Link link) {
  Team& team = teams_[number_of(link)];
  team.here = 0;
  team.ready_tasks = team.open_tasks = 0;
  let_go(team.master, link);
  for (Link member = team.first; member != 0; member = threads_[number_of(member)].next) {
    let_go(number_of(member), link);
  }
}

void Potential::let_go(uint32_t number, Link link) {
  TeamThread& thread = threads_[number];
  const uint32_t depth = thread.find(
      [&](const Level& level) { return level.team == link && level.waits == WaitFor::barrier; });
  if (depth == 0) return;
  thread.levels[depth - 1].waits = WaitFor::nothing;
  settle(number);
}

void Potential::push(uint32_t number, uint64_t task, Link team, const LevelRef& group) {
  TeamThread& thread = threads_[number];
  if (thread.depth < TeamThread::kLevels) {
    Level& level = thread.levels[thread.depth] = {};
    level.task = task;
    level.team = team;
    level.group = group;
    level.serial = ++last_serial_;
  }
  ++thread.depth;
}

void Potential::cut(uint32_t number, uint32_t depth) {
  TeamThread& thread = threads_[number];
  thread.depth = std::min(thread.depth, depth);
}

/// A crew begins when a thread forks a team of several.
void Potential::found_crew(uint32_t master) {
  if (crews_used_ + 1 == kCrews) return;
  TeamThread& thread = threads_[master];
  const bool works = thread.doing == Doing::work;
  const Wide worked =
      thread.alone + (works ? crews_[0].potential_of_one() - thread.alone_since : Wide{0});
  crews_[++crews_used_].begin(begin_, time_, worked);
  move_to_crew(master, crews_used_);
}

void Potential::note_alone(uint32_t crew) {
  for (uint32_t number = 0; number < threads_used_; ++number) {
    TeamThread& thread = threads_[number];
    if (thread.crew != crew) continue;
    const bool works = thread.doing == Doing::work;
    thread.alone_then = thread.alone;
    if (works) thread.alone_then += crews_[crew].potential_of_one() - thread.alone_since;
  }
}

/// A thread that the crew gets only now has been idle since the process began until it was called
/// to this team, as the process had its core all the time: those that worked meanwhile are to blame
/// as if it had been there.
void Potential::add_early(const Team& team) {
  const uint32_t crew = threads_[team.master].crew;
  Wide all = 0;
  for (uint32_t number = 0; number < threads_used_; ++number) {
    TeamThread& thread = threads_[number];
    if (thread.crew != crew) continue;
    thread.early += thread.alone_then;
    all += thread.alone_then;
  }
  crews_[crew].add_early(team.forked - begin_, team.alone_then, all);
}

void Potential::join_crew_of(uint32_t number, const Team& team) {
  if (threads_[team.master].crew == 0) found_crew(team.master);
  const uint32_t crew = threads_[team.master].crew, before = threads_[number].crew;
  if (before == crew) return;
  if (before == 0) {
    if (!threads_[number].for_one_team) add_early(team);
    threads_[number].alone = threads_[number].alone_then = 0;
    return move_to_crew(number, crew);
  }
  for (uint32_t other = 0; other < threads_used_; ++other) {
    if (threads_[other].crew == before) move_to_crew(other, crew);
  }
}

void Potential::move_to_crew(uint32_t number, uint32_t to) {
  TeamThread& thread = threads_[number];
  Crew &before = crew_of(thread), &after = crews_[to];
  before.pass(time_);
  after.pass(time_);
  if (thread.crew != 0) give_out(thread, thread.row);
  if (thread.doing == Doing::work) {
    thread.alone += before.potential_of_one() - thread.alone_since;
    thread.alone_since = after.potential_of_one();
  }
  before.count(thread.doing, -1);
  after.count(thread.doing, 1);
  for (const Team& team : teams_) {
    if (team.region == 0 || team.master != number) continue;
    before.call(-static_cast<int>(team.called));
    before.hand(-static_cast<int>(team.handed));
    after.call(static_cast<int>(team.called));
    after.hand(static_cast<int>(team.handed));
  }
  thread.crew = to;
  thread.owed = 0;
  thread.since = after.potential();
}

}  // namespace culprit::fold
