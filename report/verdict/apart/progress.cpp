// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The sentence has what the run would gain if operations went on by themselves; where less work for
// the silent rank brings more, that as well.
#include "report/verdict/apart/progress.h"

#include <fmt/format.h>

#include "blame/judge/causes.h"
#include "blame/judge/diagnose.h"
#include "report/verdict/gains.h"
#include "report/verdict/places.h"

namespace culprit::report {
namespace {

using blame::Amount;
using blame::Proportion;

constexpr std::string_view kPattern = "mpi.progress";
constexpr double kMatters = 0.02;   ///< of the allocated time
constexpr double kHardly = 0.005;   ///< of the run: no gain worth a number
constexpr double kMostly = 0.5;     ///< of what was waited
constexpr double kMuchMore = 1.25;  ///< than progress brings: worth saying

}  // namespace

Progress progress_verdict(const blame::Findings& findings, const PageNames& names,
                          const TimeFormat& time) {
  double waiting_s = 0;
  for (const blame::FoundWait& row : findings.waits) {
    if (row.pattern == kPattern) waiting_s += row.time_s;
  }
  const Amount<blame::OwnWaiting> waiting(waiting_s);
  const Proportion share = Proportion::of(waiting, blame::own_allocation(findings));
  if (waiting_s <= 0 || share.value() < kMatters) return {};
  const bool suspected = findings.progress.suspected_s >= kMostly * waiting_s;
  std::string text = fmt::format("{} {} for progress", percent(share),
                                 suspected ? "is suspected to wait" : "waits");
  const std::vector<blame::Cause> causes = causes_of(findings, kPattern);
  Progress progress;
  if (!causes.empty()) {
    const std::string who = fmt::format("{} {}", name_of(causes.front(), names),
                                        on_places(causes.front().shares, findings, names));
    text += fmt::format(" while {} calls no MPI", who);
    progress.what = who + ", which calls no MPI";
    progress.callpath = causes.front().costliest;
  }
  text += "; try MPI_Test in it, a progress thread, or smaller pieces";
  const double gain_s = findings.progress.gain_s;
  if (gain_s >= kHardly * findings.run.wall_s) {
    const Proportion gain = Proportion::of(Amount<blame::Run>(gain_s), blame::run_time(findings));
    text += fmt::format(": {} ({}) shorter", time(gain_s), percent(gain));
  }
  // Less to do in it may bring more, where others wait for the silent one elsewhere, too.
  const blame::FoundFunctionGain* const less =
      causes.empty() ? nullptr : gain_of(findings, causes.front());
  if (less != nullptr && less->gain_s >= kMuchMore * gain_s) {
    text += gain_in_short(findings, causes.front(), time);
  }
  progress.text = text + '.';
  progress.is_most = waiting >= kMostly * blame::own_waiting(findings);
  return progress;
}

}  // namespace culprit::report
