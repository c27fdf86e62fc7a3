// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Visits every time in a Timeline, for code that changes them all. New fields of Timeline with
// times must be added here; a test shifts a run by this and by its clocks, and compares.
#pragma once

#include "replay/model/timeline.h"

namespace culprit::replay {

/// Calls change(time) for each; never for Time::max(), which says that something is not known.
template <class Change>
void for_each_time(OpenmpFacts& facts, const Change& change) {
  for (MutexHold& hold : facts.holds) {
    change(hold.asked), change(hold.acquired);
    if (hold.released != Time::max()) change(hold.released);
  }
  for (MutexRelease& release : facts.releases) change(release.time);
  for (TaskCreation& creation : facts.creations) change(creation.time);
  for (TaskEnd& end : facts.task_ends) change(end.time);
  for (TaskRun& run : facts.task_runs) change(run.begin), change(run.end);
  for (TaskWaitVisit& visit : facts.task_waits) change(visit.enter), change(visit.leave);
  for (BarrierTail& tail : facts.barrier_tails) change(tail.begin), change(tail.end);
}

template <class Change>
void for_each_time(DeviceFacts& facts, const Change& change) {
  for (DeviceOperation& operation : facts.operations) {
    change(operation.begin), change(operation.end);
  }
}

template <class Change>
void for_each_time(ProbeFacts& facts, const Change& change) {
  for (Probe& probe : facts.probes) {
    if (probe.polled_since != Time::max()) change(probe.polled_since);
  }
  for (PolledOperation& polled : facts.polled) change(polled.since);
  for (PolledOperation& polled : facts.polled_collectives) change(polled.since);
  for (PolledOperation& polled : facts.polled_windows) change(polled.since);
}

template <class Change>
void for_each_time(ThreadFacts& facts, const Change& change) {
  for (ObjectMoment& woke : facts.woke) change(woke.time);
  for (ObjectMoment& begun : facts.begun) change(begun.time);
}

/// The same for all but the end of the last activity, which is the run's.
template <class Change>
void for_each_time(Timeline& line, const Change& change) {
  change(line.first), change(line.last);
  for (Time& begin : line.activities.begins()) change(begin);
  for (Call& call : line.calls.whole()) change(call.enter), change(call.leave);
  for (Fork& fork : line.forks) change(fork.time);
  for (TeamSpan& team : line.teams) change(team.begin), change(team.end);
  for (StageVisit& stage : line.stages) change(stage.begin), change(stage.end);
  for_each_time(line.openmp, change);
  for_each_time(line.threads, change);
  for_each_time(line.probes, change);
  for_each_time(line.device, change);
}

}  // namespace culprit::replay
