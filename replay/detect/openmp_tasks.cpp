// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Waits of tasks for tasks. At taskwait a thread waits for the last of its task's children to be
// complete, at the end of a taskgroup for the last task that was created in it or descends from
// one that was; the cause is the thread that completed it. Where the thread runs tasks meanwhile,
// that is how it waits after the last of them. Before each it waits only until that one was
// created, or what it depends on was complete: it had nothing to run.
//
// A task that cannot start because of its dependences makes no thread wait; threads that have
// nothing else wait in a construct. Two kinds make a thread wait, where they are created: an
// undeferred task, and a taskwait with dependences. Runtimes report the tasks that a task waits
// for, but for such taskwaits only the data; the awaited tasks are then the earlier siblings with
// conflicting dependences on that data.
#include <algorithm>

#include "replay/detect/openmp_detectors.h"
#include "replay/match/threads/awaited_tasks.h"

namespace culprit::replay {

namespace {

using Index = ProcessTasks::Index;
using Moment = ProcessTasks::Moment;

class TaskDetector {
 public:
  explicit TaskDetector(const OpenmpProcess& process)
      : process_(process), run_(process.run()), tasks_(process.tasks), out_(process.out) {
    const AwaitedTasks all(process.teams, tasks_);
    awaited_.resize(all.visits());
    all.for_each([&](size_t visit, Index task) { awaited_[visit].keep_later(tasks_.end(task)); });
  }

  void detect() {
    size_t first = 0;
    for (LocationId id : process_.teams.locations()) {
      find_waits(id, first);
      first += run_.at(id).openmp.task_waits.size();
    }
    for (size_t t = 0; t < tasks_.size(); ++t) {
      if (!tasks_.creation(Index(t)).undeferred && !tasks_.creation(Index(t)).is_taskwait) continue;
      wait_for_dependences(Index(t), tasks_.ready(Index(t)));
    }
  }

 private:
  /// `first`: the number of its first visit.
  void find_waits(LocationId id, size_t first) {
    const OpenmpFacts& facts = run_.at(id).openmp;
    for (size_t v = 0; v < facts.task_waits.size(); ++v) {
      const TaskWaitVisit& visit = facts.task_waits[v];
      const Moment& awaited = awaited_[first + v];
      if (awaited.time <= visit.enter) continue;
      const Pattern pattern = visit.group == UINT32_MAX ? replay::pattern("omp.taskwait")
                                                        : replay::pattern("omp.taskgroup");
      Time at = visit.enter;
      runs_.clear();
      list_runs(facts, visit.last_run, runs_);
      for (const TaskRun& run : runs_) {
        wait_for_task(process_, {id, visit.path, at, run.begin, run.task}, pattern);
        at = std::max(at, run.end);
      }
      if (awaited.location == id || awaited.time <= at) continue;
      const Time until = std::min(awaited.time, visit.leave);
      out_.at(id).wait(pattern, visit.path, at, visit.leave, until, awaited.location);
      out_.meet(id, awaited.location, until);
    }
  }

  void wait_for_dependences(Index task, const Moment& ready) {
    const TaskCreation& creation = tasks_.creation(task);
    const LocationId thread = tasks_.creator(task);
    if (!ready.happened() || ready.time <= creation.time || ready.location == thread) return;
    out_.at(thread).wait(pattern("omp.dependence"), creation.path, creation.time, ready.time,
                         ready.time, ready.location);
    out_.meet(thread, ready.location, ready.time);
  }

  const OpenmpProcess& process_;
  const Run& run_;
  const ProcessTasks& tasks_;
  Detection& out_;
  std::vector<Moment> awaited_;  // by visit
  std::vector<TaskRun> runs_;    // kept for its memory
};

}  // namespace

void list_runs(const OpenmpFacts& facts, uint32_t last, std::vector<TaskRun>& runs) {
  const size_t first = runs.size();
  for (uint32_t r = last; r != UINT32_MAX; r = facts.task_runs[r].previous) {
    runs.push_back(facts.task_runs[r]);
  }
  std::reverse(runs.begin() + static_cast<ptrdiff_t>(first), runs.end());
}

void wait_for_task(const OpenmpProcess& process, const TaskGap& gap, Pattern late_creation) {
  const Index task = process.tasks.find(gap.task);
  if (!task.valid()) return;
  Time at = gap.begin;
  const auto wait = [&](Pattern kind, const Moment& what) {
    const Time until = std::min(what.time, gap.end);
    if (!what.happened() || until <= at) return;
    if (what.location != gap.thread) {
      process.out.at(gap.thread).wait(kind, gap.path, at, gap.end, until, what.location);
      process.out.meet(gap.thread, what.location, until);
    }
    at = until;
  };
  wait(late_creation, {process.tasks.creation(task).time, process.tasks.creator(task)});
  wait(pattern("omp.dependence"), process.tasks.ready(task));
}

void detect_openmp_tasks(const OpenmpProcess& process) {
  if (!process.tasks.empty()) TaskDetector(process).detect();
}

}  // namespace culprit::replay
