// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "cli/commands/verdict.h"

#include <algorithm>
#include <string_view>

#include "base/log.h"
#include "cli/message.h"
#include "cli/pipeline.h"

namespace culprit::cli {
namespace {

constexpr log::Component kLog("analyze");

/// Returns whether a loss is due to an early end: unfinished work of a killed program is not
/// missing from its records.
bool is_of_early_end(std::string_view loss) {
  return loss == text(LossKind::incomplete_collectives).id ||
         loss == text(LossKind::unmatched_receives).id;
}

/// Records are missing or wrong.
bool is_damaged(const Losses& losses) {
  const bool early = losses.contains(LossKind::early_ends);
  return std::any_of(losses.all().begin(), losses.all().end(), [&](const auto& entry) {
    return entry.second.severity == Severity::data_loss && !(early && is_of_early_end(entry.first));
  });
}

}  // namespace

int judge(const blame::Findings& findings, const std::filesystem::path& experiment) {
  for (const std::string& violation : findings.identities.violations) kLog.error("{}", violation);
  const bool damaged = is_damaged(findings.losses);
  if (damaged) {
    kLog.warning(
        "records are damaged or missing: {} contains what could be read, and its report lists "
        "what is missing",
        for_display(experiment).string());
  }
  if (!findings.identities.violations.empty()) {
    kLog.error(
        "the sums in this result do not add up: do not rely on it. This is a bug in culprit, not "
        "in the program; please report it, with the trace in {}",
        for_display(experiment).string());
    return kContradiction;
  }
  if (damaged) return kDamaged;
  return findings.stuck.empty() ? 0 : kStuck;
}

}  // namespace culprit::cli
