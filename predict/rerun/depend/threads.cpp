// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Threads that the program creates itself, and processes that it forks: each begins after its
// creation, a join returns after the other has ended, and a wait for an object ends after the last
// wake of it.
#include <algorithm>

#include "predict/rerun/dependences.h"
#include "replay/match/threads/thread_wakes.h"

namespace culprit::predict {

using replay::Call;
using replay::Run;
using replay::ThreadWakes;
using replay::Wake;

void add_threads(const Run& run, Dependences& found) {
  const replay::NodeWakes of_nodes(run);
  for (size_t p = 0; p < run.definitions->processes.size(); ++p) {
    if (!run.owns(ProcessId(p))) continue;
    const ThreadWakes wakes(run, ProcessId(p), of_nodes);
    for (LocationId id : run.definitions->processes[p].locations) {
      const replay::Timeline& line = run.at(id);
      if (line.joiner.valid()) {  // a helper: until it was joined it did nothing
        found.edge({line.joiner, line.first, line.first}, {id, line.first, line.first});
        continue;
      }
      for (const replay::AwaitedObject& awaited : run.at(id).threads.awaited) {
        const Call call = run.call(id, awaited.call);
        const Wake* wake = wakes.last(awaited.object, call.leave, id);
        if (wake == nullptr) continue;
        found.edge({wake->by, wake->time, wake->time},
                   {id, std::max(wake->time, call.enter), call.enter});
      }
      for (const replay::ObjectMoment& begun : run.at(id).threads.begun) {
        const Wake* made = wakes.last(begun.object, begun.time, id);
        if (made == nullptr) continue;
        // From then on it was on its way.
        found.edge({made->by, made->time, made->time}, {id, made->time, made->time});
      }
    }
  }
}

}  // namespace culprit::predict
