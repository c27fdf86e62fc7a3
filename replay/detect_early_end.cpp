// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The end of the run: a location that ends early waits for the one that ends last. Its core is held
// for as long.
#include "replay/detection.h"

namespace culprit::replay {

void detect_early_end(Run& run, unsigned, Detection& out) {
  const LocationId last = run.last_to_end();
  for (LocationId id : run.locations) {
    const Activity& final = run.at(id).activities.back();
    if (final.path != run.ended || final.begin >= run.end) continue;
    out.at(id).wait(pattern("run.early_end"), run.ended, final.begin, run.end, run.end, last,
                    run.end);
    out.at(id).sync({final.begin, run.end, last, run.end, GroupId::none(), 0});
    out.at(last).sync({run.end, run.end, id, run.end, GroupId::none(), 0});
  }
}

}  // namespace culprit::replay
