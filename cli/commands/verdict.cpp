// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "cli/commands/verdict.h"

#include "base/log.h"
#include "blame/judge/diagnose.h"
#include "cli/message.h"
#include "cli/pipeline.h"

namespace culprit::cli {
namespace {

constexpr log::Component kLog("analyze");

}  // namespace

int judge(const blame::Findings& findings, const std::filesystem::path& experiment) {
  for (const std::string& violation : findings.identities.violations) kLog.error("{}", violation);
  const bool damaged = !blame::lost_records(findings.losses).empty();
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
