// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The end of the run: a location that ends early waits for the one that ends last. Its core is held
// for as long.
#include "replay/detection.h"

namespace culprit::replay {

void detect_early_end(Run& run, unsigned threads, Detection& out) {
  const LocationId last = run.last_to_end();
  Outbox box;  // another rank may own the last
  for (LocationId id : run.locations) {
    if (run.is_stream(id)) continue;  // its process says that already
    const Activities& life = run.at(id).activities;
    const size_t final = life.size() - 1;
    if (life.path(final) != run.ended || life.begin(final) >= run.end) continue;
    out.at(id).wait(pattern("run.early_end"), run.ended, life.begin(final), run.end, run.end, last);
    box.meet(id, last, run.end);
  }
  out.deliver({&box, 1}, threads);
}

}  // namespace culprit::replay
