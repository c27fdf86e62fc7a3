// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The locations that could share work, besides those that do it: ranks that call the same
// operations, and threads of the same process.
#include <algorithm>
#include <set>

#include "base/ranks/exchange.h"
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

Population population_of(const Run& run) {
  struct Sharer {
    LocationId id;
    bool in_teams;
  };
  std::vector<Sharer> own;
  for (LocationId id : run.locations) own.push_back({id, run.at(id).in_teams});
  Population all;
  std::vector<Sharer> gathered = concatenate(*run.ranks, own);
  std::sort(gathered.begin(), gathered.end(),
            [](const Sharer& a, const Sharer& b) { return a.id < b.id; });
  for (const Sharer& one : gathered) {
    all.locations.push_back(one.id);
    all.in_teams.push_back(one.in_teams);
  }
  return all;
}

Sharers sharers_of(const Run& run, const Population& all, const std::vector<LocationId>& working,
                   Over over) {
  std::set<ProcessId> processes;
  std::set<uint32_t> threads;
  for (LocationId id : working) {
    processes.insert(run.location(id).process);
    threads.insert(run.location(id).thread);
  }
  const auto could = [&](LocationId id, bool in_teams) {
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
  for (size_t i = 0; i < all.locations.size(); ++i) {
    const LocationId id = all.locations[i];
    if (run.is_stream(id)) continue;
    const bool works = std::binary_search(working.begin(), working.end(), id);
    if (works || could(id, all.in_teams[i])) sharers.members.push_back(id);
  }
  return sharers;
}

}  // namespace culprit::predict
