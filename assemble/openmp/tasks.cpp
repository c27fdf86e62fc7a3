// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

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
  const Time time = state_.time(record);
  state_.observe_code(time, record.w[1]);
  Timeline& timeline = state_.timeline;
  if (is_taskwait(record.arg)) {
    const Symbol* where = teams_.place(record.w[1]);
    timeline.enter(time, Level::sync,
                   state_.process.regions.openmp("taskwait", RegionRole::function, where),
                   kDependenceWaitIds + record.w[0]);
  }
  const Time created = timeline.advance(time);
  timeline.sink().task_create(created, id(record.w[0]));
  timeline.sink().fact(created, Fact::task_flags, record.arg);
}

void OpenmpTasks::depends(const RawRecord& record) {
  for (unsigned i = 1; i + 1 < record.words; i += 2) {
    const auto fact = dependence(record.w[i + 1]);
    if (fact) state_.fact(state_.time(record), *fact, record.w[i]);
  }
}

void OpenmpTasks::edge(const RawRecord& record) {
  const Time time = state_.time(record);
  state_.fact(time, Fact::task_successor, id(record.w[1]).number());
  state_.fact(time, Fact::task_predecessor, id(record.w[0]).number());
}

void OpenmpTasks::fulfilled(const RawRecord& record) {
  const Time time = state_.time(record);
  if (is_detached_event(record.flags)) {
    state_.fact(time, Fact::task_fulfilled, id(record.w[0]).number());
  }
  if (!ends_without_being_left(record.flags)) return;
  Timeline& timeline = state_.timeline;
  timeline.observe_nothing(time);
  const size_t wait = find_level(timeline, Level::sync, kDependenceWaitIds + record.w[0]);
  if (wait != Timeline::npos) teams_.close(time, wait);
  const Time ended = timeline.advance(time);
  timeline.sink().task_complete(ended, id(record.w[0]));
}

/// Leaves what does not go on: all tasks above the one that is resumed, or that which gives way.
void OpenmpTasks::leave_for(const RawRecord& record) {
  const Time time = state_.time(record);
  Timeline& timeline = state_.timeline;
  const uint64_t next = record.w[0];
  size_t kept = next == 0 ? find_in_team(timeline,
                                         [](const Timeline::Entry& entry) {
                                           return entry.level == Level::parallel ||
                                                  entry.level == Level::root;
                                         })
                          : find_level(timeline, Level::task, next);
  if (next != 0 && kept == Timeline::npos) {
    const size_t left = find_level(timeline, Level::task, record.w[1]);
    if (record.w[1] != 0 && is_task_left(record.flags) && left != Timeline::npos) {
      teams_.close(time, left);
    }
    return;
  }
  for (size_t i = kept == Timeline::npos ? 0 : kept + 1; i < timeline.stack().size(); ++i) {
    if (timeline.stack()[i].level == Level::task) return teams_.close(time, i);
  }
}

void OpenmpTasks::switched(const RawRecord& record) {
  const Time time = state_.time(record);
  Timeline& timeline = state_.timeline;
  const uint64_t next = record.w[0];
  const uint64_t prior = record.w[1];
  leave_for(record);
  if (next == prior) return;
  timeline.observe_nothing(time);
  const Time at = timeline.advance(time);
  if (prior != 0 && is_task_end(record.flags)) timeline.sink().task_complete(at, id(prior));
  timeline.sink().task_switch(at, id(next));
  if (next == 0 || find_level(timeline, Level::task, next) != Timeline::npos) return;
  enter(time, next);
}

void OpenmpTasks::enter(Time time, uint64_t task) {
  const auto& code_of = state_.process.survey.task_code;
  const auto created = code_of.find(task);
  const Symbol* where = created == code_of.end() ? nullptr : teams_.place(created->second);
  state_.timeline.enter(time, Level::task,
                        state_.process.regions.openmp("task", RegionRole::task, where), task);
}

}  // namespace culprit::assemble
