// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "cli/verdict.h"

#include "base/log.h"
#include "cli/message.h"
#include "cli/pipeline.h"
#include "trace/otf2_reader.h"

namespace culprit::cli {
namespace {

constexpr log::Component kLog("analyze");

}  // namespace

int judge(const blame::Findings& findings, const std::filesystem::path& experiment) {
  for (const std::string& violation : findings.identities.violations) kLog.error("{}", violation);
  const bool damaged = trace::archive_was_damaged(findings.losses);
  if (damaged) {
    kLog.warning(
        "the trace is damaged or cut short: {} contains what could be read, and its report lists "
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
  return damaged ? kDamaged : 0;
}

}  // namespace culprit::cli
