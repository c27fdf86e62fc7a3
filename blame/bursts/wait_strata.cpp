// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Strata are made for all calls that may wait, also where no window saw any: what is unknown there
// is counted, too.

#include "blame/bursts/wait_strata.h"

#include <algorithm>

#include "blame/judge/causes.h"

namespace culprit::blame {
namespace {

constexpr size_t kTop = 0;

/// visit(window or SIZE_MAX for the profile, findings, sign): what the strata are made of.
template <class Visit>
void visit_parts(const CommonRun& run, const Visit& visit) {
  constexpr size_t kInAll = SIZE_MAX;
  visit(kInAll, run.parts.profile, 1.0);
  visit(kInAll, run.parts.whole, -1.0);
  for (size_t j = 0; j < run.sample().size(); ++j) {
    visit(j, run.sample()[j].findings, 1.0);
  }
}

void add(Stratum& stratum, size_t window, double time_s) {
  if (window < stratum.seen_s.size()) {
    stratum.seen_s[window] += time_s;
  } else {
    stratum.whole_s += time_s;
  }
}

/// A window's part of calls whose waits are known there. What a call waits for that crosses an edge
/// is left out, since its other side is not in the window: with calls of length L, in a window of
/// length T, that is about L / T of their time, half of it at each edge.
double known_part(const FoundProfile& row, double window_s) {
  constexpr double kLeast = 0.5;
  if (!(window_s > 0)) return 1;
  const double call_s = row.time_s / static_cast<double>(std::max<uint64_t>(row.visits, 1));
  return std::max(kLeast, 1 - call_s / window_s);
}

}  // namespace

WaitStrata::WaitStrata(const CommonRun& run) : run_(run), strata_({}, 0, 0) {
  const size_t windows = run.sample().size();
  std::vector<Stratum> all(1);
  all[kTop].seen_s.resize(windows);
  add_calls(all);
  // Paths that the profile does not tell apart are taken to be as frequent as in the windows.
  for (Stratum& each : all) {
    double seen_s = 0;
    for (double time_s : each.seen_s) seen_s += time_s;
    if (each.whole_s <= 0 && run.covered() > 0) each.whole_s = seen_s / run.covered();
  }
  strata_ = Strata(std::move(all), windows, run.covered(), run.is_apart());
}

size_t WaitStrata::take(const Key& key, std::vector<Stratum>& all) {
  if (const auto known = places_.find(key); known != places_.end()) return known->second;
  const auto& [callpath, rank] = key;
  const size_t parent =
      callpath.valid() ? take({run_.callpaths[callpath.index()].parent, rank}, all) : kTop;
  places_[key] = all.size();
  all.push_back({parent, 0, std::vector<double>(run_.sample().size())});
  return all.size() - 1;
}

std::vector<bool> WaitStrata::paths_that_wait() const {
  std::vector<bool> waits(run_.callpaths.size());
  for (size_t i = 0; i < waits.size(); ++i) waits[i] = waits_for_others(run_.callpaths[i]);
  visit_parts(run_, [&](size_t, const Findings& findings, double) {
    for (const FoundWait& row : findings.waits) {
      if (row.callpath.valid()) waits[row.callpath.index()] = true;
    }
  });
  for (size_t i = 0; i < waits.size(); ++i) waits[i] = waits[i] && !run_.callpaths[i].start_up;
  return waits;
}

void WaitStrata::add_calls(std::vector<Stratum>& all) {
  const std::vector<bool> waits = paths_that_wait();
  visit_parts(run_, [&](size_t window, const Findings& findings, double sign) {
    const bool is_cut = window < run_.sample().size() && run_.sample()[window].is_cut;
    for (const FoundProfile& row : findings.profile) {
      if (!row.callpath.valid() || !waits[row.callpath.index()]) continue;
      const double part = is_cut ? known_part(row, findings.run.wall_s) : 1;
      add(all[take({row.callpath, run_.rank(row.location)}, all)], window,
          sign * part * row.time_s);
    }
  });
}

size_t WaitStrata::of(CallPathId callpath, LocationId location) const {
  const auto place = places_.find({callpath, run_.rank(location)});
  return place == places_.end() ? kTop : place->second;
}

}  // namespace culprit::blame
