// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Operations that progress only when another process is back in MPI, as found by detectors
// (replay/match/progress/progress.h).
#include <algorithm>

#include "predict/rerun/depend/routes.h"
#include "predict/rerun/dependences.h"

namespace culprit::predict {

void add_progress(const replay::Run& run, const replay::WaitGraph& graph, Dependences& found) {
  const Routes routes(run);
  for (LocationId id : run.locations) {
    for (const replay::ProgressGate& gate : graph.progress_gates[id.index()]) {
      const Time at = std::clamp(gate.back, gate.call.enter, gate.call.leave);
      const HubId hub = found.add_hub();
      found.hubs[hub.index()].of_progress = true;
      found.signal(hub, {gate.from, gate.back, gate.back});
      found.gate(hub, {id, at, gate.call.enter}, routes.message(gate.from, id, gate.bytes));
    }
  }
}

}  // namespace culprit::predict
