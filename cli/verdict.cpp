// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "cli/verdict.h"

#include "cli/message.h"
#include "cli/pipeline.h"
#include "trace/otf2_reader.h"

namespace culprit::cli {

int judge(const blame::Findings& findings, const std::filesystem::path& experiment) {
  for (const std::string& violation : findings.identities.violations) say("error: {}", violation);
  const bool damaged = trace::archive_was_damaged(findings.losses);
  if (damaged) {
    say("the trace is damaged or cut short: {} holds what could be read, and its report lists what "
        "is missing",
        for_display(experiment).string());
  }
  if (!findings.identities.violations.empty()) {
    say("the sums of this result do not agree: do not rely on it. This is a fault of culprit, not "
        "of "
        "the program; the trace in {} shows it",
        for_display(experiment).string());
    return kContradiction;
  }
  return damaged ? kDamaged : 0;
}

}  // namespace culprit::cli
