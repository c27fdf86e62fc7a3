// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Turns what the explanations computed, by number and in durations, into Findings, by name and in
// seconds. Nothing is computed here but sums and orders.
#pragma once

#include "blame/critical_profile.h"
#include "blame/delay.h"
#include "blame/findings.h"

namespace culprit::blame {

/// Everything that explanations produced, for one run.
struct Explanations {
  DelayAnalysis delays;
  CriticalPath path;
  Profiles profiles;
  CriticalProfile critical;
};

Findings collect_findings(const replay::Run& run, const replay::WaitGraph& graph,
                          const Explanations& explanations);

}  // namespace culprit::blame
