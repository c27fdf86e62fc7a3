// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The explicit tasks of one process: who created each, who completed it and when, what it had to
// wait for, and what barriers had to wait for. Built in time proportional to the tasks.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "replay/match/teams.h"

namespace culprit::replay {

class ProcessTasks {
 public:
  using Index = Id<struct TaskTag>;

  /// Something that happened on a location; never(): at no time.
  struct Moment {
    Time time = Time::min();
    LocationId location;
    bool happened() const { return location.valid(); }
    /// The later one; of two at one time, that of the first location.
    void keep_later(const Moment& other);
  };

  /// What happened to the tasks that a barrier of a team had to wait for.
  struct Epoch {
    Moment last_created, last_ended;
  };

  explicit ProcessTasks(const Teams& teams);

  bool empty() const { return tasks_.empty(); }
  size_t size() const { return tasks_.size(); }
  Index find(trace::TaskId id) const;
  const TaskCreation& creation(Index task) const;
  LocationId creator(Index task) const { return tasks_[task.index()].creator; }
  /// When and where it was completed.
  const Moment& end(Index task) const { return tasks_[task.index()].end; }
  /// The end of the last task that it depends on, of those that were not complete when it was
  /// created: from the runtime's reports, or from the dependences that the tasks named.
  Moment ready(Index task) const;
  /// Returns the epoch of a team's n-th barrier; empty if it had no tasks.
  Epoch epoch(TeamNumber team, size_t n) const;
  /// Those that were created in teams, in the order of their barriers.
  struct Awaited {
    TeamNumber team;
    size_t barrier;
    Index task;
  };
  std::vector<Awaited> awaited_in_barriers() const;

 private:
  struct Task {
    trace::TaskId id;
    LocationId creator;
    uint32_t creation;  // index into the creator's
    Moment end;
  };
  struct Ready {
    Index task;
    Moment moment;
  };

  void collect();
  void number();
  void find_ends();
  void find_edges();
  void derive_edges(LocationId id, size_t told);
  /// Returns whether one of the first `told` entries of ready_ (those that the runtime reported) is
  /// the task's.
  bool is_told(Index task, size_t told) const;
  void find_epochs();
  /// The team that its creator was in; none if there was none.
  TeamNumber team_of(const Task& task) const;

  const Teams& teams_;
  std::vector<Task> tasks_;  // by id
  struct Creator {
    uint32_t number;
    size_t first;  // of its tasks
  };
  std::vector<Creator> creators_;
  std::vector<Ready> ready_;         // of tasks with dependences, by task
  std::vector<size_t> first_epoch_;  // by team; one more at the end
  std::vector<Epoch> epochs_;
};

}  // namespace culprit::replay
