// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The template of a detector, which docs/developers/add-a-pattern.md quotes: waits for a file. A
// program that asks for a file until it is there does so in a region "await file"; who writes it,
// in a region "write file". Whoever awaits waits for the one that was first to write it in the
// meantime, until that one is done. Yours has a row in replay/model/detectors.def, and its pattern
// one in replay/model/wait_patterns.def; this one borrows a pattern of threads.
#include <string_view>
#include <vector>

#include "replay/detect/detection.h"

namespace culprit::replay {

namespace {

struct Visit {
  LocationId at;
  CallPathId path;
  Time begin, end;
};

/// The visits of a region on this rank's locations. (Outermost parts: the template's have no
/// others.)
std::vector<Visit> visits_of(const Run& run, std::string_view region) {
  std::vector<Visit> visits;
  for (LocationId id : run.locations) {
    const Activities& life = run.at(id).activities;
    for (size_t i = 0; i < life.size(); ++i) {
      const RegionId here = run.callpaths[life.path(i)].region;
      if (!here.valid() || run.regions[here.index()].name != region) continue;
      visits.push_back({id, life.path(i), life.begin(i), life.end(i)});
    }
  }
  return visits;
}

/// The earliest end of `writes` within `wait` on another location; null if there is none.
const Visit* find_cause(const std::vector<Visit>& writes, const Visit& wait) {
  const Visit* cause = nullptr;
  for (const Visit& write : writes) {
    if (write.at == wait.at || write.end <= wait.begin || write.end > wait.end) continue;
    if (cause == nullptr || write.end < cause->end) cause = &write;
  }
  return cause;
}

}  // namespace

void detect_files(Run& run, unsigned threads, Detection& out) {
  const std::vector<Visit> writes = visits_of(run, "write file");
  Outbox box;  // another rank may own whom they wait for
  for (const Visit& wait : visits_of(run, "await file")) {
    const Visit* const cause = find_cause(writes, wait);
    if (cause == nullptr) continue;
    out.at(wait.at).wait(pattern("thread.condition"), wait.path, wait.begin, wait.end, cause->end,
                         cause->at);
    box.meet(wait.at, cause->at, cause->end);
  }
  out.deliver({&box, 1}, threads);
}

}  // namespace culprit::replay
