// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "blame/finish.h"

#include "blame/collect/join_findings.h"
#include "blame/collect/rank_spreads.h"
#include "blame/identities.h"
#include "blame/judge/diagnose.h"
#include "blame/judge/kernel_places.h"
#include "blame/judge/parallelism.h"
#include "blame/profile/start_up.h"
#include "replay/model/wait_patterns.h"

namespace culprit::blame {

void finish_findings(Findings& findings, unsigned threads, bool has_causes) {
  move_doubtful_page_faults(findings);
  sort_findings(findings, threads);
  Identities& sums = findings.identities;
  for (const FoundDelay& row : findings.delays) sums.delay_costs_s += row.short_s + row.long_s;
  for (const FoundUnattributed& row : findings.unattributed) {
    const size_t pattern = replay::find_pattern(row.pattern);
    if (replay::counts_as_waiting(static_cast<replay::Pattern>(pattern))) {
      sums.unattributed_s += row.time_s;
    }
  }
  findings.start_up = sum_start_up(findings);
  if (findings.rank_spreads.empty()) findings.rank_spreads = rank_spreads_of(findings);
  findings.parallelism = rate_parallelism(findings);
  diagnose(findings);
  sums.violations = check_identities(findings, has_causes);
}

}  // namespace culprit::blame
