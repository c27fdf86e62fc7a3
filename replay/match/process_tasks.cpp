// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Tasks get dense numbers, in an order that most traces have already; creations, ends and edges are
// then arrays by number.
#include "replay/match/process_tasks.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace culprit::replay {

void ProcessTasks::Moment::keep_later(const Moment& other) {
  if (!other.happened()) return;
  const bool later = !happened() || other.time > time;
  if (later || (other.time == time && other.location < location)) *this = other;
}

ProcessTasks::ProcessTasks(const Teams& teams) : teams_(teams) {
  collect();
  if (tasks_.empty()) return;
  number();
  find_ends();
  find_edges();
  find_epochs();
}

void ProcessTasks::collect() {
  size_t count = 0;
  for (LocationId id : teams_.locations()) count += teams_.run().at(id).openmp.creations.size();
  tasks_.reserve(count);
  for (LocationId id : teams_.locations()) {
    const auto& creations = teams_.run().at(id).openmp.creations;
    for (uint32_t c = 0; c < creations.size(); ++c) {
      tasks_.push_back({creations[c].task, id, c, {}});
    }
  }
}

/// Threads number their tasks in order, so they are sorted already in most traces.
void ProcessTasks::number() {
  const auto by_id = [](const Task& a, const Task& b) {
    return std::tie(a.id, a.creator, a.creation) < std::tie(b.id, b.creator, b.creation);
  };
  if (!std::is_sorted(tasks_.begin(), tasks_.end(), by_id)) {
    std::sort(tasks_.begin(), tasks_.end(), by_id);
  }
  for (size_t i = 0; i < tasks_.size(); ++i) {
    const uint32_t creator = tasks_[i].id.creator;
    if (creators_.empty() || creators_.back().number != creator) creators_.push_back({creator, i});
  }
}

/// A creator's generations follow each other, unless something was not recorded.
ProcessTasks::Index ProcessTasks::find(trace::TaskId id) const {
  const auto creator =
      std::lower_bound(creators_.begin(), creators_.end(), id.creator,
                       [](const Creator& a, uint32_t number) { return a.number < number; });
  if (creator == creators_.end() || creator->number != id.creator) return Index::none();
  const size_t end = creator + 1 == creators_.end() ? tasks_.size() : (creator + 1)->first;
  const uint32_t first_generation = tasks_[creator->first].id.generation;
  if (id.generation < first_generation) return Index::none();
  const size_t guess = creator->first + (id.generation - first_generation);
  if (guess < end && tasks_[guess].id == id) return Index(guess);
  const auto begin = tasks_.begin() + static_cast<ptrdiff_t>(creator->first);
  const auto found = std::lower_bound(begin, tasks_.begin() + static_cast<ptrdiff_t>(end), id,
                                      [](const Task& a, trace::TaskId b) { return a.id < b; });
  const size_t index = static_cast<size_t>(found - tasks_.begin());
  return index < end && found->id == id ? Index(index) : Index::none();
}

const TaskCreation& ProcessTasks::creation(Index task) const {
  const Task& found = tasks_[task.index()];
  return teams_.run().at(found.creator).openmp.creations[found.creation];
}

/// A detached task is complete when it has both run to its end and been fulfilled.
void ProcessTasks::find_ends() {
  for (LocationId id : teams_.locations()) {
    for (const TaskEnd& end : teams_.run().at(id).openmp.task_ends) {
      const Index task = find(end.task);
      if (task.valid()) tasks_[task.index()].end.keep_later({end.time, id});
    }
  }
}

void ProcessTasks::find_edges() {
  for (LocationId id : teams_.locations()) {
    for (const TaskEdge& edge : teams_.run().at(id).openmp.edges) {
      const Index successor = find(edge.successor), predecessor = find(edge.predecessor);
      if (!successor.valid() || !predecessor.valid()) continue;
      if (ready_.empty() || ready_.back().task != successor) ready_.push_back({successor, {}});
      ready_.back().moment.keep_later(end(predecessor));
    }
  }
  const auto by_task = [](const Ready& a, const Ready& b) { return a.task < b.task; };
  if (!std::is_sorted(ready_.begin(), ready_.end(), by_task)) {
    std::sort(ready_.begin(), ready_.end(), by_task);
  }
  const size_t told = ready_.size();
  for (LocationId id : teams_.locations()) derive_edges(id, told);
  std::sort(ready_.begin(), ready_.end(), by_task);
}

/// Derives the edges of tasks for which the runtime reports none: LLVM's runtime reports none for
/// taskwaits, GNU's none at all. Siblings are created by one thread, in order, unless their parent
/// moves.
void ProcessTasks::derive_edges(LocationId id, size_t told) {
  struct Ends {
    Moment writers, all;
  };
  std::map<std::pair<uint64_t, uint64_t>, Ends> ends;  // by parent and address
  const OpenmpFacts& facts = teams_.run().at(id).openmp;
  for (size_t d = 0; d < facts.dependences.size();) {
    const uint32_t creation = facts.dependences[d].creation;
    const TaskCreation& created = facts.creations[creation];
    const Index task = find(created.task);
    Moment ready;
    for (; d < facts.dependences.size() && facts.dependences[d].creation == creation; ++d) {
      const TaskDependence& dependence = facts.dependences[d];
      Ends& here = ends[{created.parent.key(), dependence.address}];
      ready.keep_later(dependence.reads ? here.writers : here.all);
      if (!task.valid() || created.is_taskwait) continue;
      here.all.keep_later(end(task));
      if (!dependence.reads) here.writers.keep_later(end(task));
    }
    if (!task.valid() || !ready.happened() || ready.time <= created.time) continue;
    if (!is_told(task, told)) ready_.push_back({task, ready});
  }
}

bool ProcessTasks::is_told(Index task, size_t told) const {
  const auto end = ready_.begin() + static_cast<ptrdiff_t>(told);
  const auto at = std::lower_bound(ready_.begin(), end, task,
                                   [](const Ready& a, Index b) { return a.task < b; });
  return at != end && at->task == task;
}

ProcessTasks::Moment ProcessTasks::ready(Index task) const {
  auto at = std::lower_bound(ready_.begin(), ready_.end(), task,
                             [](const Ready& a, Index b) { return a.task < b; });
  Moment last;
  for (; at != ready_.end() && at->task == task; ++at) last.keep_later(at->moment);
  return last;
}

/// A task must be complete before its team leaves the barrier that comes next after its creation.
void ProcessTasks::find_epochs() {
  first_epoch_.assign(teams_.size() + 1, 0);
  for (size_t t = 0; t < teams_.size(); ++t) {
    size_t most = 0;
    for (const Teams::Member& member : teams_.members(TeamNumber(t))) {
      most = std::max<size_t>(most, teams_.run().at(member.location).teams[member.span].barriers);
    }
    first_epoch_[t + 1] = first_epoch_[t] + most + 1;
  }
  epochs_.resize(first_epoch_.back());
  for (const Task& task : tasks_) {
    const TaskCreation& creation = teams_.run().at(task.creator).openmp.creations[task.creation];
    const TeamNumber team = team_of(task);
    if (!team.valid()) continue;
    const size_t epoch = first_epoch_[team.index()] + creation.barrier;
    if (epoch >= first_epoch_[team.index() + 1]) continue;
    epochs_[epoch].last_created.keep_later({creation.time, task.creator});
    epochs_[epoch].last_ended.keep_later(task.end);
  }
}

TeamNumber ProcessTasks::team_of(const Task& task) const {
  const Timeline& line = teams_.run().at(task.creator);
  const uint32_t team = line.openmp.creations[task.creation].team;
  return team == UINT32_MAX ? TeamNumber::none() : teams_.of(line.teams[team]);
}

std::vector<ProcessTasks::Awaited> ProcessTasks::awaited_in_barriers() const {
  std::vector<Awaited> all;
  for (size_t t = 0; t < tasks_.size(); ++t) {
    const TeamNumber team = team_of(tasks_[t]);
    if (team.valid()) all.push_back({team, creation(Index(t)).barrier, Index(t)});
  }
  std::stable_sort(all.begin(), all.end(), [](const Awaited& a, const Awaited& b) {
    return std::tie(a.team, a.barrier) < std::tie(b.team, b.barrier);
  });
  return all;
}

ProcessTasks::Epoch ProcessTasks::epoch(TeamNumber team, size_t n) const {
  if (epochs_.empty()) return {};
  const size_t epoch = first_epoch_[team.index()] + n;
  return epoch < first_epoch_[team.index() + 1] ? epochs_[epoch] : Epoch{};
}

}  // namespace culprit::replay
