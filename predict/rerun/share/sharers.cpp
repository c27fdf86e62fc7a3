// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The locations that could share work, besides those that do it: ranks that call the same
// operations, and threads of the same process.
#include <algorithm>
#include <set>

#include "predict/rerun/scenario.h"

namespace culprit::predict {

using replay::Run;

bool inside_parallel_region(const Run& run, CallPathId path) {
  for (; path.valid(); path = run.callpaths[path].parent) {
    const RegionId region = run.callpaths[path].region;
    if (region.valid() && run.regions[region.index()].role == trace::RegionRole::parallel) {
      return true;
    }
  }
  return false;
}

Sharers sharers_of(const Run& run, const std::vector<LocationId>& working, Over over) {
  std::set<ProcessId> processes;
  std::set<uint32_t> threads;
  for (LocationId id : working) {
    processes.insert(run.location(id).process);
    threads.insert(run.location(id).thread);
  }
  const auto could = [&](LocationId id) {
    const bool in_teams = run.at(id).in_teams;
    switch (over) {
      case Over::ranks:
        return threads.contains(run.location(id).thread);
      case Over::threads:
        return in_teams && processes.contains(run.location(id).process);
      case Over::all:
        return in_teams || run.is_master(id);
    }
    return false;
  };
  Sharers sharers{{}, over};
  for (LocationId id : run.locations) {
    if (run.is_stream(id)) continue;
    const bool works = std::binary_search(working.begin(), working.end(), id);
    if (works || could(id)) sharers.members.push_back(id);
  }
  return sharers;
}

}  // namespace culprit::predict
