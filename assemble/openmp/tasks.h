// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Explicit tasks. They nest on a thread: one that is resumed here has been waiting below those that
// ran meanwhile. A task that moves to another thread is left here and entered there.
#pragma once

#include <unordered_map>

#include "assemble/openmp/teams.h"

namespace culprit::assemble {

class OpenmpTasks {
 public:
  OpenmpTasks(ThreadState& state, OpenmpTeams& teams);

  void create(const RawRecord& record);
  void depends(const RawRecord& record);
  void edge(const RawRecord& record);
  void switched(const RawRecord& record);
  void fulfilled(const RawRecord& record);

 private:
  trace::TaskId id(uint64_t number) const;
  void leave_for(const RawRecord& record);
  void enter(Time time, uint64_t task);

  ThreadState& state_;
  OpenmpTeams& teams_;
  std::unordered_map<uint64_t, uint32_t> creators_;  ///< in tasks' numbers -> thread
};

}  // namespace culprit::assemble
