// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Sums over the joined rows: a region has all call paths below it. Waiting for locks is neither
// idleness nor overhead: it has a table of its own.
#include "blame/judge/parallelism.h"

#include <algorithm>

#include "blame/findings/path_meaning.h"
#include "trace/pseudo_regions.h"

namespace culprit::blame {

namespace {

bool is_of_runtime(const FoundCallPath& path) {
  return is_team_barrier(path) || is_task_wait(path) || path.region == trace::pseudo::waking;
}

bool is_of_no_thread(const FoundCallPath& path) {
  const trace::Pseudo kind = trace::pseudo_of(path.region);
  return kind == trace::Pseudo::idle || kind == trace::Pseudo::not_started ||
         kind == trace::Pseudo::ended;
}

}  // namespace

Granularity advice_of(double work_s, double overhead_s, double idle_s) {
  const double all_s = work_s + overhead_s + idle_s;
  const bool idles = idle_s >= kMuchIdleness * all_s && idle_s > 0;
  const bool costs = overhead_s >= kMuchIdleness * all_s && overhead_s > 0;
  if (idles) return costs ? Granularity::change : Granularity::refine;
  return costs ? Granularity::coarsen : Granularity::effective;
}

std::vector<FoundParallelism> rate_parallelism(const Findings& findings) {
  if (findings.idle_blame.empty()) return {};
  const std::vector<CallPathId> region = outermost_regions(findings);
  std::vector<FoundParallelism> by_path(findings.callpaths.size());
  FoundParallelism whole;
  const auto add = [&](CallPathId path, double FoundParallelism::* what, double time_s) {
    if (!path.valid()) return;
    whole.*what += time_s;
    if (const CallPathId in = region[path.index()]; in.valid()) by_path[in.index()].*what += time_s;
  };
  const auto kind_of = [&](CallPathId path) {
    return is_of_runtime(findings.callpaths[path.index()]) ? &FoundParallelism::overhead_s
                                                           : &FoundParallelism::work_s;
  };
  for (const FoundProfile& row : findings.profile) {
    const bool of_thread = findings.locations[row.location.index()].stream.empty() &&
                           !is_of_no_thread(findings.callpaths[row.callpath.index()]);
    if (of_thread) add(row.callpath, kind_of(row.callpath), row.time_s);
  }
  for (const FoundWait& row : findings.waits) {
    if (is_of_no_thread(findings.callpaths[row.callpath.index()])) continue;
    add(row.callpath, kind_of(row.callpath), -row.time_s);
  }
  for (const FoundIdleBlame& row : findings.idle_blame) {
    add(row.callpath, &FoundParallelism::idle_s, row.time_s);
  }
  std::vector<FoundParallelism> rows;
  for (size_t i = 0; i < by_path.size(); ++i) {
    if (region[i] != CallPathId(i)) continue;
    by_path[i].callpath = CallPathId(i);
    rows.push_back(by_path[i]);
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const FoundParallelism& a, const FoundParallelism& b) {
                     return a.idle_s + a.overhead_s > b.idle_s + b.overhead_s;
                   });
  rows.insert(rows.begin(), whole);
  for (FoundParallelism& row : rows) {
    row.work_s = std::max(row.work_s, 0.0);  // of roundings
    row.overhead_s = std::max(row.overhead_s, 0.0);
    row.advice = advice_of(row.work_s, row.overhead_s, row.idle_s);
  }
  return rows;
}

}  // namespace culprit::blame
