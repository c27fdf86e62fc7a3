// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The joined findings begin as those of the profile. Lists are replaced one group after another,
// and what must add up is brought to the sums of all waits.

#include "blame/bursts/join.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "blame/bursts/common_run.h"
#include "blame/bursts/estimates.h"
#include "blame/bursts/other_rows.h"
#include "blame/bursts/scaled_gains.h"
#include "blame/bursts/scaled_waits.h"
#include "blame/bursts/wait_strata.h"
#include "blame/collect/join_findings.h"
#include "blame/identities.h"
#include "blame/judge/diagnose.h"
#include "blame/judge/parallelism.h"
#include "blame/profile/start_up.h"
#include "replay/model/wait_patterns.h"

namespace culprit::blame {
namespace {

constexpr size_t kInstances = 5;  ///< the longest waits of a pattern

FoundWindow window_row(uint32_t number, double begin_s, double counted_s, double end_s,
                       const Findings& findings) {
  FoundWindow row;
  row.number = number;
  row.begin_s = begin_s;
  row.counted_from_s = counted_s;
  row.end_s = end_s;
  row.allocation_s = findings.run.allocation_s;
  row.waiting_s = findings.identities.waiting_s;
  row.unattributed_s = findings.identities.unattributed_s;
  std::map<CallPathId, double> costs;
  for (const FoundDelay& delay : findings.delays) {
    costs[delay.callpath] += delay.short_s + delay.long_s;
  }
  for (const auto& [path, cost_s] : costs) {
    if (cost_s > row.cost_s) row.cost_s = cost_s, row.callpath = path;
  }
  return row;
}

void add_windows(const CommonRun& run, Findings& joined) {
  joined.windows.clear();
  if (run.parts.whole_s > 0) {
    joined.windows.push_back(window_row(0, 0, 0, run.parts.whole_s, run.parts.whole));
  }
  for (const TracedWindow& window : run.parts.windows) {
    joined.windows.push_back(window_row(window.number, window.begin_s, window.counted_from_s,
                                        window.end_s, window.findings));
  }
}

void add_coverage(const CommonRun& run, const Strata& strata, Findings& joined) {
  FoundCoverage row;
  row.whole_s = run.parts.whole_s;
  row.windows = run.parts.windows.size();
  row.windows_s = run.is_apart() ? 0 : run.seen_s;
  const double traced_s = run.parts.whole_s + row.windows_s;
  const double wall_s = std::max(joined.run.wall_s, traced_s);
  row.covered = wall_s > 0 ? traced_s / wall_s : 1;
  row.possible_s = strata.whole_s();
  row.unseen_s = strata.all_unseen_s();
  for (const TracedWindow& window : run.parts.windows) {
    row.beyond_s += window.findings.identities.unattributed_s;
  }
  joined.coverage = {row};
}

/// The longest waits are those of any part: others may have been longer.
void add_instances(const CommonRun& run, Findings& joined) {
  std::vector<FoundInstance> all = run.parts.whole.instances;
  for (const TracedWindow& window : run.parts.windows) {
    const std::vector<FoundInstance>& rows = window.findings.instances;
    all.insert(all.end(), rows.begin(), rows.end());
  }
  std::stable_sort(all.begin(), all.end(), [](const FoundInstance& a, const FoundInstance& b) {
    return a.pattern != b.pattern ? a.pattern < b.pattern : a.time_s > b.time_s;
  });
  joined.instances.clear();
  size_t of_pattern = 0;
  for (FoundInstance& row : all) {
    const bool same = !joined.instances.empty() && joined.instances.back().pattern == row.pattern;
    of_pattern = same ? of_pattern + 1 : 0;
    if (of_pattern < kInstances) joined.instances.push_back(std::move(row));
  }
}

/// Waits by location, and by interval where the profile knows those, add up to all.
void fit_waiting(Findings& joined) {
  for (FoundLocation& row : joined.locations) row.waiting_s = 0;
  double all_s = 0, known_s = 0;
  for (const FoundWait& row : joined.waits) {
    all_s += row.time_s;
    if (row.location.valid()) joined.locations[row.location.index()].waiting_s += row.time_s;
  }
  if (joined.location_times.empty()) joined.run.intervals = 0;
  for (const FoundLocationTime& row : joined.location_times) known_s += row.waiting_s;
  if (known_s > 0) {
    for (FoundLocationTime& row : joined.location_times) row.waiting_s *= all_s / known_s;
    for (FoundCallPathTime& row : joined.callpath_times) row.waiting_s *= all_s / known_s;
  }
}

/// A part of the imbalance costs is as large as in the parts of the run, and all of them are as
/// much as all waiting is.
void fit_imbalance(const CommonRun& run, Findings& joined) {
  double seen_s = run.parts.whole.identities.waiting_s;
  double unattributed_s = run.parts.whole.identities.imbalance_unattributed_s;
  for (const TracedWindow& window : run.parts.windows) {
    seen_s += window.findings.identities.waiting_s;
    unattributed_s += window.findings.identities.imbalance_unattributed_s;
  }
  Identities& sums = joined.identities;
  double costs_s = 0;
  for (const auto& row : joined.critical_callpaths) costs_s += row.intra_s + row.inter_s;
  sums.imbalance_unattributed_s = seen_s > 0 ? sums.waiting_s * unattributed_s / seen_s : 0;
  sums.imbalance_costs_s = sums.waiting_s - sums.imbalance_unattributed_s;
  for (auto& row : joined.critical_callpaths) {
    const double factor = costs_s > 0 ? sums.imbalance_costs_s / costs_s : 0;
    row.intra_s *= factor;
    row.inter_s *= factor;
    row.impact_s = row.activity_s + row.intra_s + row.inter_s;
  }
  if (costs_s <= 0) sums.imbalance_unattributed_s = sums.waiting_s, sums.imbalance_costs_s = 0;
}

void sum_up(const CommonRun& run, Findings& joined) {
  const Identities of_profile = joined.identities;
  Identities& sums = joined.identities = {};
  for (const FoundWait& row : joined.waits) sums.waiting_s += row.time_s;
  for (const FoundDelay& row : joined.delays) sums.delay_costs_s += row.short_s + row.long_s;
  for (const FoundUnattributed& row : joined.unattributed) {
    const size_t pattern = replay::find_pattern(row.pattern);
    if (pattern < replay::kPatterns.size() &&
        replay::counts_as_waiting(static_cast<replay::Pattern>(pattern))) {
      sums.unattributed_s += row.time_s;
    }
  }
  sums.wall_s = joined.run.wall_s;
  for (const FoundCriticalPath& row : joined.critical_path) sums.critical_path_s += row.time_s;
  fit_imbalance(run, joined);
  for (const FoundIdleBlame& row : joined.idle_blame) sums.idle_blame_s += row.time_s;
  for (const FoundNobody& row : joined.idle_nobody) sums.idle_nobody_s += row.time_s;
  const bool exact = !run.parts.profile.idle_blame.empty();
  sums.idle_s = exact ? of_profile.idle_s : sums.idle_blame_s + sums.idle_nobody_s;
  for (const FoundDeviceBlame& row : joined.device_blame) {
    const bool idle = row.kind == DeviceBlameKind::idle_device;
    (idle ? sums.device_idle_blame_s : sums.device_wait_blame_s) += row.time_s;
  }
  sums.device_idle_s = sums.device_idle_blame_s;
  sums.device_wait_s = sums.device_wait_blame_s;
}

template <class Row>
std::vector<Row> rows_of(const std::vector<ScaledRow<Row>>& scaled) {
  std::vector<Row> rows;
  for (const ScaledRow<Row>& each : scaled) rows.push_back(each.row);
  return rows;
}

/// A profile says that it has no events: together with windows, it has.
void merge_notes(const CommonRun& run, Findings& joined) {
  joined.run.notes.clear();
  const auto merge = [&](const Findings& part) {
    joined.losses.merge(part.losses);
    for (const std::string& note : part.run.notes) {
      const auto& known = joined.run.notes;
      if (std::find(known.begin(), known.end(), note) == known.end()) {
        joined.run.notes.push_back(note);
      }
    }
  };
  merge(run.parts.whole);
  for (const TracedWindow& window : run.parts.windows) merge(window.findings);
}

}  // namespace

Findings join_bursts(BurstRun parts, unsigned threads) {
  const CommonRun run = on_common_ground(std::move(parts));
  const WaitStrata places(run);
  const PathStrata paths(run);
  Findings joined = run.parts.profile;
  joined.callpaths = run.callpaths;
  joined.locations = run.locations;
  joined.metrics = run.metrics;
  const ScaledWaits waits = scale_waits(run, places);
  joined.waits = rows_of(waits.waits);
  joined.delays = rows_of(waits.delays);
  joined.unattributed = rows_of(waits.unattributed);
  add_other_rows(run, places, paths, joined);
  joined.estimates = find_estimates(run, places, paths, waits, joined);
  ScaledGains gains = scale_gains(run);
  joined.function_gains = std::move(gains.rows);
  joined.estimates.insert(joined.estimates.end(), gains.estimates.begin(), gains.estimates.end());
  add_instances(run, joined);
  add_windows(run, joined);
  add_coverage(run, places.strata(), joined);
  fit_waiting(joined);
  merge_notes(run, joined);
  sort_findings(joined, threads);
  sum_up(run, joined);
  joined.start_up = sum_start_up(joined);
  joined.parallelism = rate_parallelism(joined);
  joined.diagnoses.clear();
  diagnose(joined);
  joined.identities.violations = check_identities(joined);
  return joined;
}

}  // namespace culprit::blame
