// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Waits of tasks for tasks. At taskwait a thread waits for the last of its task's children to be
// complete, at the end of a taskgroup for the last task that was created in it or descends from
// one that was; the cause is the thread that completed it. Where the thread runs tasks meanwhile,
// that is how it waits after the last of them. Before each it waits only until that one was
// created, or what it depends on was complete: it had nothing to run.
//
// A task that cannot start because of its dependences makes no thread wait; threads that have
// nothing else wait in a construct. Two have a thread to wait: an undeferred task, and a taskwait
// with dependences. They wait where they were created. Runtimes tell what a task waits for, but of
// such taskwaits only the data: then it is the siblings before it that do with them what excludes
// it.
#include <algorithm>

#include "replay/detect/openmp_detectors.h"

namespace culprit::replay {

namespace {

using Index = ProcessTasks::Index;
using Moment = ProcessTasks::Moment;

class TaskDetector {
 public:
  explicit TaskDetector(const OpenmpProcess& process)
      : process_(process), run_(process.run()), tasks_(process.tasks), out_(process.out) {
    size_t visits = 0, groups = 0, implicit = tasks_.size();
    for (LocationId id : locations()) {
      first_visit_.push_back(visits);
      first_group_.push_back(groups);
      first_implicit_.push_back(implicit);
      visits += run_.at(id).openmp.task_waits.size();
      groups += run_.at(id).openmp.groups;
      implicit += run_.at(id).teams.size() + 1;
    }
    awaited_.resize(visits);
    groups_ = groups;
    parents_ = implicit;
  }

  void detect() {
    if (!awaited_.empty()) {
      await_children();
      await_groups();
      for (size_t p = 0; p < locations().size(); ++p) find_waits(p);
    }
    for (size_t t = 0; t < tasks_.size(); ++t) {
      if (!tasks_.creation(Index(t)).undeferred && !tasks_.creation(Index(t)).is_taskwait) continue;
      wait_for_dependences(Index(t), tasks_.ready(Index(t)));
    }
  }

 private:
  static constexpr size_t kNobody = SIZE_MAX;

  std::span<const LocationId> locations() const { return process_.teams.locations(); }
  const TaskWaitVisit& visit(size_t position, size_t number) const {
    return run_.at(locations()[position]).openmp.task_waits[number - first_visit_[position]];
  }

  /// A number for each task, explicit or implicit; kNobody if it is not known.
  size_t number_of(TaskParent parent) const {
    if (parent.is_task()) {
      const Index task = tasks_.find(parent.task());
      return task.valid() ? task.index() : kNobody;
    }
    const size_t position = process_.teams.position(parent.thread());
    return first_implicit_[position] + (parent.team() == UINT32_MAX ? 0 : parent.team() + 1);
  }

  // --- what each visit awaits
  // ------------------------------------------------------------------

  /// A taskwait awaits the children that its task has created until then, of which those before
  /// its last taskwait are complete.
  void await_children() {
    struct Taskwait {
      Time enter;
      size_t visit;
    };
    std::vector<size_t> end(parents_ + 1, 0);  // by parent; first the counts of the one before
    const auto for_each_taskwait = [&](const auto& work) {
      for (size_t p = 0; p < locations().size(); ++p) {
        const auto& visits = run_.at(locations()[p]).openmp.task_waits;
        for (size_t v = 0; v < visits.size(); ++v) {
          if (visits[v].group != UINT32_MAX) continue;
          const size_t parent = number_of(visits[v].waiting);
          if (parent != kNobody) work(parent, Taskwait{visits[v].enter, first_visit_[p] + v});
        }
      }
    };
    for_each_taskwait([&](size_t parent, const Taskwait&) { ++end[parent + 1]; });
    for (size_t parent = 0; parent < parents_; ++parent) end[parent + 1] += end[parent];
    std::vector<Taskwait> taskwaits(end.back());
    std::vector<size_t> next(end.begin(), end.end() - 1);
    for_each_taskwait([&](size_t parent, const Taskwait& t) { taskwaits[next[parent]++] = t; });
    const auto by_time = [](const Taskwait& a, const Taskwait& b) { return a.enter < b.enter; };
    for (size_t parent = 0; parent < parents_; ++parent) {  // a task may move between threads
      const auto begin = taskwaits.begin() + static_cast<ptrdiff_t>(end[parent]);
      const auto stop = taskwaits.begin() + static_cast<ptrdiff_t>(end[parent + 1]);
      if (!std::is_sorted(begin, stop, by_time)) std::stable_sort(begin, stop, by_time);
    }
    for (size_t t = 0; t < tasks_.size(); ++t) {
      const TaskCreation& creation = tasks_.creation(Index(t));
      const size_t parent = number_of(creation.parent);
      if (parent == kNobody) continue;
      const auto stop = taskwaits.begin() + static_cast<ptrdiff_t>(end[parent + 1]);
      const auto awaiting = std::lower_bound(
          taskwaits.begin() + static_cast<ptrdiff_t>(end[parent]), stop, creation.time,
          [](const Taskwait& a, Time created) { return a.enter < created; });
      if (awaiting != stop) awaited_[awaiting->visit].keep_later(tasks_.end(Index(t)));
    }
  }

  void await_groups() {
    if (groups_ == 0) return;
    std::vector<size_t> visit_of(groups_, kNobody);
    for (size_t p = 0; p < locations().size(); ++p) {
      const auto& visits = run_.at(locations()[p]).openmp.task_waits;
      for (size_t v = 0; v < visits.size(); ++v) {
        if (visits[v].group == UINT32_MAX) continue;
        visit_of[first_group_[p] + visits[v].group] = first_visit_[p] + v;
      }
    }
    group_of_.assign(tasks_.size(), kUnknown);
    for (size_t t = 0; t < tasks_.size(); ++t) {
      const uint32_t group = find_group(Index(t));
      if (group == kNoGroup || visit_of[group] == kNobody) continue;
      awaited_[visit_of[group]].keep_later(tasks_.end(Index(t)));
    }
  }

  /// The innermost taskgroup that a task belongs to: its own, or that of its parent.
  uint32_t find_group(Index task) {
    ancestors_.clear();
    uint32_t group = kNoGroup;
    for (;; task = Index(number_of(tasks_.creation(task).parent))) {
      const uint32_t known = group_of_[task.index()];
      if (known != kUnknown) {
        group = known;
        break;
      }
      group_of_[task.index()] = kNoGroup;  // ends circles, which only damaged traces have
      ancestors_.push_back(task);
      const TaskCreation& creation = tasks_.creation(task);
      if (creation.group != UINT32_MAX) {
        const size_t position = process_.teams.position(tasks_.creator(task));
        group = static_cast<uint32_t>(first_group_[position]) + creation.group;
        break;
      }
      if (!creation.parent.is_task() || !tasks_.find(creation.parent.task()).valid()) break;
    }
    for (Index ancestor : ancestors_) group_of_[ancestor.index()] = group;
    return group;
  }

  // --- waits ------------------------------------------------------------------------------------

  void find_waits(size_t position) {
    const LocationId id = locations()[position];
    const OpenmpFacts& facts = run_.at(id).openmp;
    for (size_t v = 0; v < facts.task_waits.size(); ++v) {
      const TaskWaitVisit& visit = facts.task_waits[v];
      const Moment& awaited = awaited_[first_visit_[position] + v];
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

  static constexpr uint32_t kNoGroup = UINT32_MAX, kUnknown = UINT32_MAX - 1;

  const OpenmpProcess& process_;
  const Run& run_;
  const ProcessTasks& tasks_;
  Detection& out_;
  std::vector<size_t> first_visit_, first_group_, first_implicit_;  // by position
  size_t groups_ = 0, parents_ = 0;
  std::vector<Moment> awaited_;     // by visit
  std::vector<uint32_t> group_of_;  // by task
  std::vector<Index> ancestors_;    // kept for its memory, like the next
  std::vector<TaskRun> runs_;
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
