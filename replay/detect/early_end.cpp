// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The end of the run: a process that ends early waits for the location that ends last. Its cores
// stay allocated until then: those of its first thread and of its pools. A thread that the program
// created and that has ended is gone, and waits for nothing; the process ends with the last of its
// threads.
#include <algorithm>

#include "replay/detect/detection.h"

namespace culprit::replay {

namespace {

/// Returns the ends by process; Time::min() for processes of other ranks.
std::vector<Time> ends_of_processes(const Run& run) {
  std::vector<Time> ends(run.definitions->processes.size(), Time::min());
  for (LocationId id : run.locations) {
    if (run.is_stream(id)) continue;
    Time& end = ends[run.location(id).process.index()];
    end = std::max(end, run.at(id).last);
  }
  return ends;
}

}  // namespace

void detect_early_end(Run& run, unsigned threads, Detection& out) {
  const LocationId last = run.last_to_end();
  const std::vector<Time> ends = ends_of_processes(run);
  Outbox box;  // another rank may own the location that ends last
  for (LocationId id : run.locations) {
    if (run.is_stream(id) || run.at(id).own_thread) continue;  // a stream ends with its process
    const Activities& life = run.at(id).activities;
    const size_t final = life.size() - 1;
    if (life.path(final) != run.ended) continue;
    const Time since = std::max(life.begin(final), ends[run.location(id).process.index()]);
    if (since >= run.end) continue;
    out.at(id).wait(pattern("run.early_end"), run.ended, since, run.end, run.end, last);
    box.meet(id, last, run.end);
  }
  out.deliver({&box, 1}, threads);
}

}  // namespace culprit::replay
