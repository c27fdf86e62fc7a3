// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Which flows of processes (match/sweeps/sweep_runs.h) are parts of sweeps, where each sweep comes
// from, and so which waits are due to a sweep that turned. A flow comes from those flows in which
// its leading messages were sent; a source is one that receives nothing. A flow is part of a sweep
// if
//
//   - following it back ends at sources everywhere, and never comes round in a circle (a ring, a
//     halo exchange); and each process on the way receives before it sends;
//   - one process at least stands in between, and passes on what comes from the source: between two
//     processes alone a sweep looks like question and answer, or like an exchange;
//   - a run of such a process repeats: it is a pipeline. A front that passes once may be a tree
//     (a broadcast made of messages), unless it goes through a grid, everywhere the same way and to
//     all neighbors that way.
//
// A sweep turns at a process where its flow is opposite to that of the process's last sweep on the
// same communicator: one receives from the processes that the other sends to.
#pragma once

#include <compare>
#include <tuple>
#include <vector>

#include "base/flat_map.h"
#include "replay/match/messages.h"
#include "replay/match/sweeps/sweep_runs.h"

namespace culprit::replay {

/// How a sweep turns at a process.
struct SweepTurn {
  bool turned = false;
  ProcessId corner;  ///< where it starts; none: at several processes, or it has not turned
};

/// Where a flow's leading messages come from.
struct SweepEdge {
  ProcessId process, from;
  uint8_t flow, from_flow;
  auto operator<=>(const SweepEdge& o) const {
    return std::tie(process, flow, from, from_flow) <=>
           std::tie(o.process, o.flow, o.from, o.from_flow);
  }
};

class SweepFronts {
 public:
  /// Finds the runs of this rank's processes and marks their leading messages. Collective.
  SweepFronts(Run& run, unsigned threads);

  /// Whether any sweep can turn in this run; the same on all ranks.
  bool possible() const { return possible_; }
  /// A message that has been matched. MT: one thread for each receiving process.
  void received(const Run& run, ProcessId process, const MatchedMessage& message);
  /// Call when all messages have been received. Collective.
  void settle(const Run& run);

  /// Returns the turn of the sweep that passes a process at that moment.
  SweepTurn turn(ProcessId process, CommId comm, SweepMoment moment) const;

 private:
  /// Edges, each once.
  struct EdgeSet {
    std::vector<SweepEdge> edges;
    FlatMap places;
  };

  template <class Graph>
  void judge_runs(ProcessId process, const Graph& graph);

  const GridSteps grids_;
  bool possible_ = false;
  std::vector<ProcessSweeps> sweeps_;  // by ProcessId, and so are the following
  std::vector<EdgeSet> edge_sets_;
  std::vector<std::vector<SweepTurn>> turns_;  // by run
};

}  // namespace culprit::replay
