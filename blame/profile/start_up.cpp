// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The functions are a list of names, since nothing else in a trace distinguishes them; functions of
// device runtimes that build executable code are among them.
#include "blame/profile/start_up.h"
#include "trace/pseudo_regions.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace culprit::blame {

namespace {

constexpr std::string_view kFunctions[] = {
    "MPI_Init",         "MPI_Init_thread",      "MPI_Finalize",
    "MPI_Session_init", "MPI_Session_finalize", "cuInit",
    "cudaDeviceReset",  "clCreateContext",      "clCreateContextFromType",
    "clReleaseContext", "clBuildProgram",       "clCompileProgram",
    "clLinkProgram",    trace::kDeviceStartUp,
};

/// Prefixes of function families: versions of one function, and variants for files, data and so on.
constexpr std::string_view kFamilies[] = {
    "cuCtxCreate",  "cuCtxDestroy",  "cuDevicePrimaryCtx",
    "cuModuleLoad", "cuLibraryLoad", "cudaLibraryLoad",
};

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

bool starts_or_ends(std::string_view function) {
  return std::any_of(std::begin(kFunctions), std::end(kFunctions),
                     [&](std::string_view name) { return name == function; }) ||
         std::any_of(std::begin(kFamilies), std::end(kFamilies),
                     [&](std::string_view name) { return function.starts_with(name); });
}

std::vector<bool> start_up_paths(const replay::Run& run) {
  std::vector<bool> regions(run.regions.size());
  for (size_t i = 0; i < regions.size(); ++i) regions[i] = starts_or_ends(run.regions[i].name);
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
