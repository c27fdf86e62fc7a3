// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Calls that could not return before the run was ended from outside: they wait until then, for the
// location that the archive names (trace::Fact::unanswered). Where that location runs, it is late;
// where it waits itself, it has an unanswered call of its own, and a deadlock is a circle, whose
// waiting has no cause. Only culprit's own archives record such calls.
#include "replay/detect/detection.h"

namespace culprit::replay {

namespace {

LocationId location_of(const trace::Definitions& definitions, const Unanswered& call) {
  if (call.rank >= definitions.processes.size()) return LocationId::none();
  const auto& threads = definitions.processes[call.rank].locations;
  return call.thread < threads.size() ? threads[call.thread] : LocationId::none();
}

}  // namespace

void detect_unanswered(Run& run, unsigned threads, Detection& out) {
  Outbox box;  // another rank may own whom they wait for
  for (LocationId id : run.locations) {
    for (const Unanswered& call : run.at(id).unanswered) {
      const LocationId awaited = location_of(*run.definitions, call);
      if (!awaited.valid() || awaited == id || !call.path.valid()) continue;
      out.at(id).wait(pattern("run.unanswered"), call.path, call.begin, call.end, call.end,
                      awaited);
      box.meet(id, awaited, call.end);
    }
  }
  out.deliver({&box, 1}, threads);
}

}  // namespace culprit::replay
