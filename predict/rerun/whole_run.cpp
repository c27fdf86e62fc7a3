// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "predict/rerun/whole_run.h"

#include <algorithm>

namespace culprit::predict {

Result<void> check_whole(const blame::Findings& findings) {
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
