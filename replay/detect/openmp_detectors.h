// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The detectors of OpenMP waits. Each looks at one process at a time, which detect_openmp hands out
// to threads: nothing of OpenMP reaches beyond a process.
#pragma once

#include "base/losses.h"
#include "replay/detect/team_syncs.h"
#include "replay/match/process_tasks.h"
#include "replay/match/teams.h"

namespace culprit::replay {

/// What a detector works on, and where it puts what it finds: the waits of the process's own
/// locations.
struct OpenmpProcess {
  const Teams& teams;
  const ProcessTasks& tasks;
  Detection& out;
  TeamSyncs& syncs;
  Losses& losses;

  const Run& run() const { return teams.run(); }
};

void detect_openmp_barriers(const OpenmpProcess& process);
void detect_openmp_tasks(const OpenmpProcess& process);
void detect_mutexes(const OpenmpProcess& process);
void detect_idle_threads(const OpenmpProcess& process);

/// An interval of a construct in which a thread had nothing to do, until it ran a task that it
/// found there.
struct TaskGap {
  LocationId thread;
  CallPathId path;
  Time begin, end;
  trace::TaskId task;
};
/// The thread waited until the task was created, and then until what it depends on was complete.
/// The rest of the gap is the runtime's: finding the task. `late_creation` is the first wait's
/// pattern.
void wait_for_task(const OpenmpProcess& process, const TaskGap& gap, Pattern late_creation);

/// The task runs of a construct in their order, given the index of the last.
void list_runs(const OpenmpFacts& facts, uint32_t last, std::vector<TaskRun>& runs);

}  // namespace culprit::replay
