// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// How long the tasks of a process take, alone and in chains: a task is executed by one thread, and
// those that depend on each other one after the other, on any threads.
#pragma once

#include <vector>

#include "predict/rerun/dependences.h"
#include "replay/match/process_tasks.h"

namespace culprit::predict {

class TaskLengths {
 public:
  TaskLengths(const replay::Teams& teams, const replay::ProcessTasks& tasks);

  /// Of a barrier that waits for the task.
  void add(replay::ProcessTasks::Index task, Meeting& barrier) const;

 private:
  using Index = replay::ProcessTasks::Index;

  void sum_runs(const replay::Teams& teams, const replay::ProcessTasks& tasks);
  void follow_edges(const replay::Teams& teams, const replay::ProcessTasks& tasks);
  void follow_data(const replay::Teams& teams, const replay::ProcessTasks& tasks);

  std::vector<float> own_;    ///< by task, nanoseconds
  std::vector<float> chain_;  ///< likewise, with the longest of those before
};

}  // namespace culprit::predict
