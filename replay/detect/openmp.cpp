// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Runs the detectors of OpenMP waits, on several processes at a time.
#include <algorithm>

#include "base/parallel.h"
#include "replay/detect/openmp_detectors.h"

namespace culprit::replay {

namespace {

constexpr void (*kDetectors[])(const OpenmpProcess&) = {
    detect_openmp_barriers,  //
    detect_openmp_tasks,     //
    detect_mutexes,          //
    detect_idle_threads,     //
};

void detect(const Run& run, const trace::Process& process, Detection& out, Losses& losses) {
  std::vector<LocationId> locations;
  for (LocationId id : process.locations) {
    if (!run.at(id).empty()) locations.push_back(id);
  }
  std::sort(locations.begin(), locations.end());
  const Teams teams(run, locations);
  const ProcessTasks tasks(teams);
  TeamSyncs syncs(out);
  for (const auto& detector : kDetectors) detector({teams, tasks, out, syncs, losses});
}

}  // namespace

void detect_openmp(Run& run, unsigned threads, Detection& out) {
  const std::vector<trace::Process>& processes = run.definitions->processes;
  std::vector<Losses> losses(processes.size());
  parallel_for(processes.size(), threads,
               [&](size_t p) { detect(run, processes[p], out, losses[p]); });
  for (const Losses& loss : losses) out.losses.merge(loss);
}

}  // namespace culprit::replay
