// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Tasks that wait for others, explicit and implicit ones, are numbered; what one awaits is then
// found by its number and the time.
#include "replay/match/threads/awaited_tasks.h"

#include <algorithm>
#include <span>

namespace culprit::replay {

namespace {

constexpr size_t kNobody = SIZE_MAX;
constexpr uint32_t kNoGroup = UINT32_MAX, kUnknown = UINT32_MAX - 1;

}  // namespace

AwaitedTasks::AwaitedTasks(const Teams& teams, const ProcessTasks& tasks)
    : teams_(teams), run_(teams.run()), tasks_(tasks) {
  size_t implicit = tasks.size();
  for (LocationId id : teams.locations()) {
    first_visit_.push_back(visits_);
    first_group_.push_back(groups_);
    first_implicit_.push_back(implicit);
    visits_ += run_.at(id).openmp.task_waits.size();
    groups_ += run_.at(id).openmp.groups;
    implicit += run_.at(id).teams.size() + 1;
  }
  parents_ = implicit;
}

void AwaitedTasks::for_each(const Visit& visit) const {
  if (visits_ == 0) return;
  for_each_child(visit);
  for_each_in_group(visit);
}

/// A number for each task, explicit or implicit; kNobody if it is not known.
size_t AwaitedTasks::number_of(TaskParent parent) const {
  if (parent.is_task()) {
    const Index task = tasks_.find(parent.task());
    return task.valid() ? task.index() : kNobody;
  }
  const size_t position = teams_.position(parent.thread());
  return first_implicit_[position] + (parent.team() == UINT32_MAX ? 0 : parent.team() + 1);
}

void AwaitedTasks::for_each_child(const Visit& visit) const {
  struct Taskwait {
    Time enter;
    size_t visit;
  };
  std::vector<size_t> end(parents_ + 1, 0);  // by parent; first the counts of the one before
  const auto for_each_taskwait = [&](const auto& work) {
    for (size_t p = 0; p < first_visit_.size(); ++p) {
      const auto& visits = run_.at(teams_.locations()[p]).openmp.task_waits;
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
  const auto of = [&](size_t parent) {
    return std::span(taskwaits).subspan(end[parent], end[parent + 1] - end[parent]);
  };
  const auto by_time = [](const Taskwait& a, const Taskwait& b) { return a.enter < b.enter; };
  for (size_t parent = 0; parent < parents_; ++parent) {  // a task may move between threads
    const std::span<Taskwait> own = of(parent);
    if (!std::is_sorted(own.begin(), own.end(), by_time)) {
      std::stable_sort(own.begin(), own.end(), by_time);
    }
  }
  for (size_t t = 0; t < tasks_.size(); ++t) {
    const TaskCreation& creation = tasks_.creation(Index(t));
    const size_t parent = number_of(creation.parent);
    if (parent == kNobody) continue;
    const std::span<Taskwait> own = of(parent);
    const auto awaiting =
        std::lower_bound(own.begin(), own.end(), creation.time,
                         [](const Taskwait& a, Time created) { return a.enter < created; });
    if (awaiting != own.end()) visit(awaiting->visit, Index(t));
  }
}

void AwaitedTasks::for_each_in_group(const Visit& visit) const {
  if (groups_ == 0) return;
  std::vector<size_t> visit_of(groups_, kNobody);
  for (size_t p = 0; p < first_visit_.size(); ++p) {
    const auto& visits = run_.at(teams_.locations()[p]).openmp.task_waits;
    for (size_t v = 0; v < visits.size(); ++v) {
      if (visits[v].group == UINT32_MAX) continue;
      visit_of[first_group_[p] + visits[v].group] = first_visit_[p] + v;
    }
  }
  std::vector<uint32_t> group_of(tasks_.size(), kUnknown);
  std::vector<Index> ancestors;
  for (size_t t = 0; t < tasks_.size(); ++t) {
    const uint32_t group = find_group(Index(t), group_of, ancestors);
    if (group == kNoGroup || visit_of[group] == kNobody) continue;
    visit(visit_of[group], Index(t));
  }
}

/// The innermost taskgroup that a task belongs to: its own, or that of its parent. `group_of` keeps
/// what is found, `ancestors` its memory.
uint32_t AwaitedTasks::find_group(Index task, std::vector<uint32_t>& group_of,
                                  std::vector<Index>& ancestors) const {
  ancestors.clear();
  uint32_t group = kNoGroup;
  for (;; task = Index(number_of(tasks_.creation(task).parent))) {
    const uint32_t known = group_of[task.index()];
    if (known != kUnknown) {
      group = known;
      break;
    }
    group_of[task.index()] = kNoGroup;  // ends circles, which only damaged traces have
    ancestors.push_back(task);
    const TaskCreation& creation = tasks_.creation(task);
    if (creation.group != UINT32_MAX) {
      const size_t position = teams_.position(tasks_.creator(task));
      group = static_cast<uint32_t>(first_group_[position]) + creation.group;
      break;
    }
    if (!creation.parent.is_task() || !tasks_.find(creation.parent.task()).valid()) break;
  }
  for (Index ancestor : ancestors) group_of[ancestor.index()] = group;
  return group;
}

}  // namespace culprit::replay
