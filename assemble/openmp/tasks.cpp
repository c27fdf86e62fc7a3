// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Task numbers are the process's, and made unique by the thread that created them. A task's
// dependences are recorded by its creator, edge by edge.
#include "assemble/openmp/tasks.h"

#include "assemble/openmp/ompt_names.h"

namespace culprit::assemble {

using trace::Fact;
using trace::RegionRole;
using trace::TaskId;

OpenmpTasks::OpenmpTasks(ThreadState& state, OpenmpTeams& teams) : state_(state), teams_(teams) {
  const auto& logs = state.process.folder.logs;
  for (const auto& [creator, log] : state.process.survey.task_creators) {
    for (size_t thread = 0; thread < logs.size(); ++thread) {
      if (logs[thread].thread() == log) creators_[creator] = static_cast<uint32_t>(thread);
    }
  }
}

/// Tasks whose creation was not recorded get creators after all threads.
TaskId OpenmpTasks::id(uint64_t number) const {
  if (number == 0) return {};
  const uint64_t creator = number >> kTaskCreatorShift;
  const auto known = creators_.find(creator);
  const auto thread = known != creators_.end()
                          ? known->second
                          : static_cast<uint32_t>(state_.process.folder.logs.size() + creator);
  return {thread, static_cast<uint32_t>(number)};
}

void OpenmpTasks::create(const RawRecord& record) {
  const auto task = record.as<raw::omp_task_create>();
  const Time time = state_.time(record);
  state_.observe_code(time, task.code);
  Timeline& timeline = state_.timeline;
  if (is_taskwait(task.flags)) {
    const Symbol* where = teams_.place(task.code);
    timeline.enter(time, Level::sync, state_.construct("taskwait", RegionRole::function, where),
                   kDependenceWaitIds + task.task);
  }
  const Time created = timeline.advance(time);
  timeline.sink().task_create(created, id(task.task));
  timeline.sink().fact(created, Fact::task_flags, task.flags);
}

void OpenmpTasks::depends(const RawRecord& record) {
  const auto pairs = record.rest_of<raw::omp_task_depends>();
  for (size_t i = 0; i + 1 < pairs.size(); i += 2) {
    const auto fact = dependence(pairs[i + 1]);
    if (fact) state_.fact(state_.time(record), *fact, pairs[i]);
  }
}

void OpenmpTasks::edge(const RawRecord& record) {
  const auto edge = record.as<raw::omp_task_edge>();
  const Time time = state_.time(record);
  state_.fact(time, Fact::task_successor, id(edge.second).number());
  state_.fact(time, Fact::task_predecessor, id(edge.first).number());
}

void OpenmpTasks::fulfilled(const RawRecord& record) {
  const auto [status, task] = record.as<raw::omp_task_fulfilled>();
  const Time time = state_.time(record);
  if (is_detached_event(status)) {
    state_.fact(time, Fact::task_fulfilled, id(task).number());
  }
  if (!ends_without_being_left(status)) return;
  Timeline& timeline = state_.timeline;
  timeline.observe_nothing(time);
  const size_t wait = find_level(timeline, Level::sync, kDependenceWaitIds + task);
  if (wait != Timeline::npos) teams_.close(time, wait);
  const Time ended = timeline.advance(time);
  timeline.sink().task_complete(ended, id(task));
}

/// Leaves tasks that are suspended: all tasks above the one that is resumed, or the one that
/// yields.
void OpenmpTasks::leave_for(const RawRecord& record) {
  const auto [status, next, prior] = record.as<raw::omp_task_switch>();
  const Time time = state_.time(record);
  Timeline& timeline = state_.timeline;
  size_t kept = next == 0 ? find_in_team(timeline,
                                         [](const Timeline::Entry& entry) {
                                           return entry.level == Level::parallel ||
                                                  entry.level == Level::root;
                                         })
                          : find_level(timeline, Level::task, next);
  if (next != 0 && kept == Timeline::npos) {
    const size_t left = find_level(timeline, Level::task, prior);
    if (prior != 0 && is_task_left(status) && left != Timeline::npos) {
      teams_.close(time, left);
    }
    return;
  }
  for (size_t i = kept == Timeline::npos ? 0 : kept + 1; i < timeline.stack().size(); ++i) {
    if (timeline.stack()[i].level == Level::task) return teams_.close(time, i);
  }
}

void OpenmpTasks::switched(const RawRecord& record) {
  const auto [status, next, prior] = record.as<raw::omp_task_switch>();
  const Time time = state_.time(record);
  Timeline& timeline = state_.timeline;
  leave_for(record);
  if (next == prior) return;
  timeline.observe_nothing(time);
  const Time at = timeline.advance(time);
  if (prior != 0 && is_task_end(status)) timeline.sink().task_complete(at, id(prior));
  timeline.sink().task_switch(at, id(next));
  if (next == 0 || find_level(timeline, Level::task, next) != Timeline::npos) return;
  enter(time, next);
}

void OpenmpTasks::enter(Time time, uint64_t task) {
  const auto& code_of = state_.process.survey.task_code;
  const auto created = code_of.find(task);
  const Symbol* where = created == code_of.end() ? nullptr : teams_.place(created->second);
  state_.timeline.enter(time, Level::task, state_.construct("task", RegionRole::task, where), task);
}

}  // namespace culprit::assemble
