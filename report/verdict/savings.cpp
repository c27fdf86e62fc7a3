// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Savings are projections of the analysis (Findings::function_gains, diagnoses, progress), each of
// one change alone; only that of a binding is estimated here, from the time without a core.
#include "report/verdict/savings.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/verdict/apart/progress.h"
#include "report/verdict/gains.h"
#include "report/verdict/places.h"
#include "report/verdict/when.h"

namespace culprit::report {
namespace {

using blame::Findings;

/// Causes with their gains, as functions.
void add_functions(const Findings& findings, const PageNames& names, std::vector<Saving>& list) {
  for (const blame::Cause& cause : causes(findings)) {
    const blame::FoundFunctionGain* const row = gain_of(findings, cause);
    if (row == nullptr) continue;
    const blame::FoundDistribution* const over = over_time(findings, cause);
    const bool in_order =
        over != nullptr && cause.shares.size() > 1 &&
        (over->movement == blame::Movement::moves || over->movement == blame::Movement::turns);
    const std::string place =
        in_order ? movement_words(*over, findings) : ' ' + on_places(cause.shares, findings, names);
    list.push_back({.kind = "function",
                    .callpath = cause.costliest,
                    .what = name_of(cause, names) + place,
                    .change = change_in_short(findings, cause, *row),
                    .gain_s = row->gain_s});
  }
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
