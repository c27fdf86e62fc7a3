// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The records of the OpenMP runtime, as events, each group of constructs in a class of its own.
// Runtimes deviate from the standard, so none of these classes relies on an end arriving.
#pragma once

#include "assemble/openmp/constructs.h"
#include "assemble/openmp/mutexes.h"
#include "assemble/openmp/targets.h"
#include "assemble/openmp/tasks.h"
#include "assemble/openmp/teams.h"

namespace culprit::assemble {

class OpenmpRecords {
 public:
  explicit OpenmpRecords(ThreadState& state) : state_(state), teams_(state) {}

  /// `ahead`: the records after this one.
  void see(const RawRecord& record, const RawLog::Cursor& ahead);
  /// Something else happens on this thread at `time`: before, it leaves a team that is over.
  void leave_what_is_over(Time time) { teams_.leave_what_is_over(time); }
  /// Closes everything, at the end of the process.
  void finish(Time end) { teams_.finish(end); }

 private:
  void see_task(const RawRecord& record);
  void see_mutex(const RawRecord& record, const RawLog::Cursor& ahead);

  ThreadState& state_;
  OpenmpTeams teams_;
  OpenmpConstructs constructs_{state_, teams_};
  OpenmpMutexes mutexes_{state_, teams_};
  OpenmpTasks tasks_{state_, teams_};
  OpenmpTargets targets_{state_, teams_};
};

}  // namespace culprit::assemble
