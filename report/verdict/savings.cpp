// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Savings are projections of the analysis (Findings::function_gains, diagnoses, progress), each of
// one change alone; only those of a binding and of work before MPI_Init are estimated here, from
// the time without a core, and from the critical path.
#include "report/verdict/savings.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "blame/findings/path_meaning.h"
#include "report/verdict/apart/progress.h"
#include "report/verdict/apart/start_up.h"
#include "report/verdict/gains.h"
#include "report/verdict/places.h"
#include "report/verdict/when.h"

namespace culprit::report {
namespace {

using blame::Findings;

/// The locations on which the critical path goes through a cause, the largest first.
std::vector<blame::Share> critical_shares(const Findings& findings, const blame::Cause& cause) {
  std::map<LocationId, double> times;
  for (const blame::FoundCriticalPath& row : findings.critical_path) {
    const auto& paths = cause.callpaths;
    if (std::find(paths.begin(), paths.end(), row.callpath) == paths.end()) continue;
    if (row.time_s > 0) times[row.location] += row.time_s;
  }
  std::vector<blame::Share> shares;
  for (const auto& [location, time_s] : times) shares.push_back({location, time_s});
  std::stable_sort(shares.begin(), shares.end(), [](const blame::Share& a, const blame::Share& b) {
    return a.time_s > b.time_s;
  });
  return shares;
}

/// Where a change saves its time. What saves more than others wait for is work on the critical
/// path: those that happened to be late in it say nothing of it.
std::vector<blame::Share> places_of(const Findings& findings, const blame::Cause& cause,
                                    const blame::FoundFunctionGain& gain) {
  if (gain.gain_s <= cause.cost_s) return cause.shares;
  std::vector<blame::Share> shares = critical_shares(findings, cause);
  return shares.empty() ? cause.shares : shares;
}

/// Whether the code is a call in which threads wait for each other: what it takes until it returns,
/// when the other has come, nobody can halve or share.
bool is_call_that_waits(const Findings& findings, const blame::Cause& cause) {
  return is_of(findings.callpaths[cause.example.index()], trace::Paradigm::pthread);
}

/// Causes with their gains, as functions.
void add_functions(const Findings& findings, const PageNames& names, std::vector<Saving>& list) {
  for (const blame::Cause& cause : causes(findings)) {
    const blame::FoundFunctionGain* const row = gain_of(findings, cause);
    if (row == nullptr || is_call_that_waits(findings, cause)) continue;
    const blame::FoundDistribution* const over = over_time(findings, cause);
    const bool in_order =
        over != nullptr && cause.shares.size() > 1 &&
        (over->movement == blame::Movement::moves || over->movement == blame::Movement::turns);
    const std::string place =
        in_order ? movement_words(*over, findings)
                 : ' ' + on_places(places_of(findings, cause, *row), findings, names);
    list.push_back({.kind = "function",
                    .callpath = cause.costliest,
                    .what = name_of(cause, names) + place,
                    .change = change_in_short(findings, cause, *row),
                    .gain_s = row->gain_s});
  }
}

/// What a process did before MPI_Init, where others waited for it. They wait for the next to come
/// if it comes sooner than that.
void add_start_skew(const Findings& findings, const PageNames& names, std::vector<Saving>& list) {
  const StartSkew skew = start_skew(findings);
  if (skew.causes.empty() || skew.launch_s > skew.cost_s()) return;
  const blame::Cause& first = skew.causes.front();
  const bool known = std::any_of(list.begin(), list.end(), [&](const Saving& each) {
    return each.callpath == first.costliest;
  });
  if (known) return;
  double critical_s = 0;
  for (const blame::Share& share : critical_shares(findings, first)) critical_s += share.time_s;
  list.push_back({.kind = "start_up",
                  .callpath = first.costliest,
                  .what = name_of(first, names) + " before MPI_Init " +
                          on_places(first.shares, findings, names),
                  .change = "halved",
                  .gain_s = std::min(critical_s / 2, skew.shortest_s)});
}

void add_rivals(const Verdict& verdict, std::vector<Saving>& list) {
  for (const Rival& rival : verdict.rivals) {
    list.push_back({.kind = to_string(rival.kind),
                    .callpath = rival.callpath,
                    .what = rival.what,
                    .change = std::string(rival.change),
                    .gain_s = rival.gain_s,
                    .explains_waiting = rival.explains_waiting});
  }
}

void add_progress(const Findings& findings, const PageNames& names, const TimeFormat& time,
                  std::vector<Saving>& list) {
  const Progress progress = progress_verdict(findings, names, time);
  if (progress.what.empty()) return;
  list.push_back({.kind = "progress",
                  .callpath = progress.callpath,
                  .what = progress.what,
                  .change = "with MPI_Test in it, or a progress thread",
                  .gain_s = findings.progress.gain_s});
}

void add_binding(const Verdict& verdict, const Findings& findings, std::vector<Saving>& list) {
  const CoreShortage& cores = verdict.cores;
  if (!cores.comes_first() || !is_bound(cores) || findings.run.locations == 0) return;
  const double lacked_s = cores.at_work_s - cores.outside_s;
  list.push_back({.kind = "binding",
                  .callpath = {},
                  .what = bound_words(cores, findings),
                  .change = own_core_remedy(cores, findings),
                  .gain_s = std::max(0.0, lacked_s) / static_cast<double>(findings.run.locations)});
}

}  // namespace

std::vector<Saving> savings(const Verdict& verdict, const Findings& findings,
                            const PageNames& names, const TimeFormat& time) {
  std::vector<Saving> list;
  add_functions(findings, names, list);
  add_start_skew(findings, names, list);
  add_rivals(verdict, list);
  add_progress(findings, names, time, list);
  add_binding(verdict, findings, list);
  std::erase_if(
      list, [&](const Saving& each) { return each.gain_s < kWorthSaving * findings.run.wall_s; });
  std::stable_sort(list.begin(), list.end(), [](const Saving& a, const Saving& b) {
    return a.explains_waiting != b.explains_waiting ? a.explains_waiting : a.gain_s > b.gain_s;
  });
  return list;
}

}  // namespace culprit::report
