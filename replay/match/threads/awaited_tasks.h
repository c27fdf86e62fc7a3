// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Which tasks a taskwait or the end of a taskgroup waits for, whether a thread had to wait or not:
// a taskwait for the children that its task has created until then, of which those before its last
// taskwait are complete; a taskgroup for all that were created in it or descend from one that was,
// those of groups inside aside, which have waited for these.
#pragma once

#include <functional>
#include <vector>

#include "replay/match/process_tasks.h"

namespace culprit::replay {

class AwaitedTasks {
 public:
  AwaitedTasks(const Teams& teams, const ProcessTasks& tasks);

  /// Visits (OpenmpFacts::task_waits) are numbered location by location, in the teams' order.
  size_t visits() const { return visits_; }
  /// In no order. A task may be awaited twice: by its parent and at the end of its group.
  void for_each(const std::function<void(size_t visit, ProcessTasks::Index task)>& visit) const;

 private:
  using Index = ProcessTasks::Index;
  using Visit = std::function<void(size_t visit, Index task)>;

  size_t number_of(TaskParent parent) const;
  void for_each_child(const Visit& visit) const;
  void for_each_in_group(const Visit& visit) const;
  uint32_t find_group(Index task, std::vector<uint32_t>& group_of,
                      std::vector<Index>& ancestors) const;

  const Teams& teams_;
  const Run& run_;
  const ProcessTasks& tasks_;
  std::vector<size_t> first_visit_, first_group_, first_implicit_;  // by position
  size_t visits_ = 0, groups_ = 0, parents_ = 0;
};

}  // namespace culprit::replay
