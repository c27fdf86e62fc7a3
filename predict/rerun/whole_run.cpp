// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Events that are missing would be missing in the other run, too; and what nobody has seen to wait
// would not wait there.
#include "predict/rerun/whole_run.h"

#include <algorithm>
#include <map>
#include <string>

#include "trace/pseudo_regions.h"

namespace culprit::predict {

namespace {

/// A thread that spends this part of the run between calls that the trace records may be waiting
/// there for others, who then decide how long.
constexpr double kMuch = 0.05;

/// Whether threads beside the first, which has its work from nobody, may wait for others without a
/// word in the trace.
bool threads_may_wait_unseen(const blame::Findings& findings) {
  std::map<LocationId, double> between_s;
  for (const blame::FoundProfile& row : findings.profile) {
    const blame::FoundLocation& location = findings.locations[row.location.index()];
    if (location.thread == 0 || !location.stream.empty()) continue;
    const std::string& region = findings.callpaths[row.callpath.index()].region;
    if (trace::pseudo_of(region) == trace::Pseudo::between) {
      between_s[row.location] += row.time_s;
    }
  }
  return std::any_of(between_s.begin(), between_s.end(),
                     [&](const auto& row) { return row.second >= kMuch * findings.run.wall_s; });
}

}  // namespace

Result<void> check_whole(const blame::Findings& findings) {
  if (threads_may_wait_unseen(findings)) {
    return Error{
        "the trace does not record what its threads wait for between their calls: how it would run "
        "with a change cannot be told"};
  }
  const Losses& losses = findings.losses;
  if (losses.contains(LossKind::clock_repairs)) {
    return Error{
        "the clocks of this trace contradict each other and were corrected: how it would run with "
        "a change cannot be told"};
  }
  if (losses.contains(LossKind::early_ends)) {
    return Error{
        "processes of this run ended early: how it would have gone on with a change cannot be "
        "told"};
  }
  for (const auto& [name, loss] : losses.all()) {
    if (loss.severity != Severity::data_loss) continue;
    return Error{
        "events of this run are missing, so how it would run with a change cannot be "
        "told: " +
        loss.advice};
  }
  if (std::any_of(findings.waits.begin(), findings.waits.end(),
                  [](const auto& row) { return row.pattern == "run.unanswered"; })) {
    return Error{
        "calls of this run were never answered: how it would have gone on with a change cannot be "
        "told"};
  }
  return {};
}

}  // namespace culprit::predict
