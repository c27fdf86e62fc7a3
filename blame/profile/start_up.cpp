// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Which calls start and end things, the tables of calls say; calls of devices' runtimes that make
// what can be executed are among them.
#include "blame/profile/start_up.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "trace/device_apis.h"
#include "trace/device_calls.h"
#include "trace/mpi_calls.h"
#include "trace/pseudo_regions.h"

namespace culprit::blame {

namespace {

/// Returns the time without waiting at start-up call paths. Threads and streams may begin later
/// than their process, but their time before the begin counts only until the process has begun.
double start_up_activity(const Findings& findings) {
  const auto counts = [&](CallPathId path) { return findings.callpaths[path.index()].start_up; };
  const auto not_started = [&](CallPathId path) {
    return findings.callpaths[path.index()].region == trace::pseudo::not_started;
  };
  std::map<uint32_t, double> begins;  // by rank
  for (const FoundProfile& row : findings.profile) {
    const FoundLocation& location = findings.locations[row.location.index()];
    if (not_started(row.callpath) && location.thread == 0 && location.stream.empty()) {
      begins[location.rank] = row.time_s;
    }
  }
  double sum = 0;
  for (const FoundProfile& row : findings.profile) {
    if (!counts(row.callpath)) continue;
    const double most = not_started(row.callpath)
                            ? begins[findings.locations[row.location.index()].rank]
                            : INFINITY;
    sum += std::min(row.time_s, most);
  }
  for (const FoundWait& row : findings.waits) {
    if (counts(row.callpath)) sum -= row.time_s;
  }
  return std::max(sum, 0.0);  // of roundings
}

}  // namespace

bool starts_or_ends(const trace::Region& region) {
  if (region.paradigm == trace::Paradigm::mpi) {
    return trace::is_mpi_call(region, trace::MpiTrait::start_up);
  }
  if (trace::pseudo_of(region.name) == trace::Pseudo::importing) return true;
  return trace::is_device_api(region.paradigm) &&
         (region.name == trace::kDeviceStartUp ||
          trace::is_device_call(region.name, trace::DeviceTrait::start_up));
}

std::vector<bool> start_up_paths(const replay::Run& run) {
  std::vector<bool> regions(run.regions.size());
  for (size_t i = 0; i < regions.size(); ++i) regions[i] = starts_or_ends(run.regions[i]);
  std::vector<bool> paths(run.callpaths.size());
  for (size_t i = 0; i < paths.size(); ++i) {
    const auto& node = run.callpaths[CallPathId(i)];
    paths[i] = (node.region.valid() && regions[node.region.index()]) ||
               (node.parent.valid() && paths[node.parent.index()]);
  }
  if (run.not_started.valid()) paths[run.not_started.index()] = true;
  return paths;
}

double own_unattributed_s(const Findings& findings) {
  double sum = findings.identities.unattributed_s;
  for (const FoundUnattributed& row : findings.unattributed) {
    if (row.pattern == kStartSkew) sum -= row.time_s;
  }
  return std::max(0.0, sum);  // of roundings
}

StartUp sum_start_up(const Findings& findings) {
  const auto counts = [&](CallPathId path) { return findings.callpaths[path.index()].start_up; };
  StartUp sums;
  for (const FoundCriticalCallPath& row : findings.critical_callpaths) {
    if (counts(row.callpath)) sums.wall_s += row.time_s;
  }
  for (const FoundDelay& row : findings.delays) {
    if (is_of_start_up(findings, row)) sums.waiting_s += row.short_s + row.long_s;
  }
  for (const FoundUnattributed& row : findings.unattributed) {
    if (row.pattern == kStartSkew) sums.waiting_s += row.time_s;
  }
  sums.activity_s = start_up_activity(findings);
  return sums;
}

}  // namespace culprit::blame
