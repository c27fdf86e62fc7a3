// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What one process does in sweeps: fronts of messages that go from process to process, each of
// which receives from some neighbors, works, and sends to others. From its own sends and receives
// alone, in the order of time:
//
//   group  receives, then sends, up to the next receive: what came, and what was handed on
//   run    groups in a row in which no process is both received from and sent to, on one
//          communicator, or on those of a grid's slices. A message against the flow begins the next
//          run, with the group it is in; one in another phase of the program (sweep_phases.h)
//          begins group and run
//   flow   whom a run receives from and whom it sends to; runs with the same two sets, in the same
//          phases, are the same
//   lead   the messages with which a run begins: those of its first group, and the first of each
//          neighbor. In them the front reaches the process
//
// At a corner two runs may stand in one group, which then receives from whom it sends to. Where one
// sweep ends and the next comes from elsewhere, that has the last receives, each from another
// process than the others and from none that is sent to. Where one sweep is passed on and the next
// starts, the first has the first sends, likewise. Whether a flow is part of a sweep at all is for
// all processes together to say (detect/sweep_fronts.h).
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "replay/match/sweeps/grid_steps.h"
#include "replay/model/run.h"

namespace culprit::replay {

/// The place of an operation in its process's order: of a receive when it has come, of a send when
/// it is handed over; at the same time receives come first.
using SweepMoment = int64_t;
inline SweepMoment received_at(const Call& completed) {
  return 2 * completed.leave.nanos();
}
inline SweepMoment sent_at(const Call& posted) {
  return 2 * posted.enter.nanos() + 1;
}

struct SweepFlow {
  CommId comm;                       ///< GridSteps::whole
  std::vector<ProcessId> up, down;   ///< whom it receives from, whom it sends to; ascending
  std::array<uint32_t, 2> phases{};  ///< of these receives and sends
  GridDirection direction = kNoDirection;
  uint32_t runs = 0;
  bool sound = true;     ///< no run sends before it has received, unless it never receives
  bool repeats = false;  ///< a run has several groups: a pipeline

  bool relay() const { return !up.empty() && !down.empty(); }
  bool against(const SweepFlow& other) const;
};

struct SweepRun {
  CommId comm;  ///< likewise
  SweepMoment begin;
  uint8_t flow;  ///< index of the process's
};

struct ProcessSweeps {
  std::vector<SweepFlow> flows;
  std::vector<SweepRun> runs;  ///< by communicator, then by time

  /// Whether a sweep may turn here, or pass through.
  bool may_turn() const;
  /// The run that an operation belongs to, on a whole communicator; the list's size if there is
  /// none.
  size_t run_at(CommId comm, SweepMoment moment) const;
};

/// Finds the runs of a process of this rank, and marks its leads (MessageOp::flow).
ProcessSweeps find_sweep_runs(Run& run, ProcessId process, const GridSteps& grids);

}  // namespace culprit::replay
