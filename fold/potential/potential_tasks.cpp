// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Tasks. A thread that waits runs some, and works then. Which of those that wait will run a task
// that is ready is not known, but that as many are about to as there are such tasks.
#include "fold/potential/potential.h"

namespace culprit::fold {

void Potential::count_waiting(Link link, int by) {
  if (link == 0) return;
  Team& team = teams_[number_of(link)];
  team.waiting += static_cast<uint32_t>(by);
  if (team.ready_tasks != 0 || team.handed != 0) count_handed(team);
}

void Potential::count_handed(Team& team) {
  const uint32_t handed = std::min(team.ready_tasks, team.waiting);
  if (handed == team.handed) return;
  Crew& crew = crew_of(threads_[team.master]);
  crew.pass(time_);
  crew.hand(static_cast<int>(handed) - static_cast<int>(team.handed));
  team.handed = handed;
}

Level* Potential::find_level(const LevelRef& ref) {
  if (ref.serial == 0) return nullptr;
  Level& level = threads_[number_of(ref.thread)].levels[ref.depth];
  return level.serial == ref.serial ? &level : nullptr;
}

void Potential::create_task(uint32_t number, uint64_t task) {
  TeamThread& thread = threads_[number];
  if (thread.depth == 0 || thread.depth > TeamThread::kLevels) return;
  Level& level = thread.levels[thread.depth - 1];
  if (level.team == 0) return;
  const LevelRef parent{level.serial, link_to(number), static_cast<uint16_t>(thread.depth - 1)};
  tasks_[slot_of(task)] = {task, parent, level.group};
  ++level.children;
  if (Level* const group = find_level(level.group)) ++group->grouped;
  Team& team = teams_[number_of(level.team)];
  ++team.open_tasks;
  ++team.ready_tasks;
  count_handed(team);
}

/// Those that waited for the last task need not wait any more.
void Potential::complete_task(uint64_t task) {
  OpenTask& open = tasks_[slot_of(task)];
  if (open.task != task) return;
  const OpenTask ended = open;
  open = {};
  if (Level* const parent = find_level(ended.parent)) {
    if (parent->children > 0 && --parent->children == 0 && parent->waits == WaitFor::children) {
      go_on(ended.parent);
    }
  }
  if (Level* const group = find_level(ended.group)) {
    if (group->grouped > 0 && --group->grouped == 0 && group->waits == WaitFor::group) {
      go_on(ended.group);
    }
  }
}

void Potential::go_on(const LevelRef& ref) {
  find_level(ref)->waits = WaitFor::nothing;
  crew_of(threads_[number_of(ref.thread)]).pass(time_);
  settle(number_of(ref.thread));
}

void Potential::order_task(TeamThread& thread, uint64_t task) {
  uint64_t& known = ordered_[slot_of(task)];
  if (known == task) return;
  known = task;
  take_ready(innermost_team(thread));
}

void Potential::take_ready(Link link) {
  if (link == 0 || teams_[number_of(link)].ready_tasks == 0) return;
  --teams_[number_of(link)].ready_tasks;
  count_handed(teams_[number_of(link)]);
}

/// A task that the thread is in already goes on: those that it ran meanwhile have been left.
void Potential::enter_task(uint32_t number, uint64_t task) {
  TeamThread& thread = threads_[number];
  if (task == 0) return;
  const uint32_t depth = thread.find([&](const Level& level) { return level.task == task; });
  if (depth > 0) return cut(number, depth);
  const Link link = innermost_team(thread);
  uint64_t& known = ordered_[slot_of(task)];
  const bool ordered = known == task;
  const OpenTask& open = tasks_[slot_of(task)];
  push(number, task, link, open.task == task ? open.group : LevelRef{});
  settle(number);  // before the count of ready tasks, lest this thread count as idle in between
  if (ordered) {
    known = 0;
  } else {
    take_ready(link);
  }
}

/// `task` 0: all tasks in the innermost team.
void Potential::leave_task(uint32_t number, uint64_t task, bool ended) {
  TeamThread& thread = threads_[number];
  const Link link = innermost_team(thread);
  const uint32_t depth = thread.find(
      [&](const Level& level) { return task != 0 ? level.task == task : level.task == 0; });
  if (depth > 0) cut(number, task != 0 ? depth - 1 : depth);
  if (!ended) return;
  settle(number);
  complete_task(task);
  if (link == 0) return;
  Team& team = teams_[number_of(link)];
  if (team.open_tasks > 0 && --team.open_tasks == 0) release_if_complete(link);
}

void Potential::begin_group(uint32_t number) {
  TeamThread& thread = threads_[number];
  if (thread.depth == 0 || thread.depth > TeamThread::kLevels) return;
  Level& level = thread.levels[thread.depth - 1];
  level.group = {level.serial, link_to(number), static_cast<uint16_t>(thread.depth - 1)};
  level.grouped = 0;
}

void Potential::end_group(TeamThread& thread) {
  if (thread.depth > 0 && thread.depth <= TeamThread::kLevels) {
    thread.levels[thread.depth - 1].group = {};
  }
}

/// The thread does not wait if there is nothing to wait for. Of a group inside another one of the
/// same task, the outer one is forgotten.
void Potential::wait_for_tasks(TeamThread& thread, WaitFor what) {
  if (thread.depth == 0 || thread.depth > TeamThread::kLevels) return;
  Level& level = thread.levels[thread.depth - 1];
  const uint32_t open = what == WaitFor::group ? level.grouped : level.children;
  if (open > 0) level.waits = what;
}

void Potential::end_wait(TeamThread& thread) {
  const uint32_t depth = thread.find([](const Level& level) {
    return level.waits == WaitFor::children || level.waits == WaitFor::group;
  });
  if (depth == 0) return;
  thread.depth = depth;
  thread.levels[depth - 1].waits = WaitFor::nothing;
}

}  // namespace culprit::fold
