// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Turns what the explanations computed, by number and in durations, into Findings, by name and in
// seconds. Nothing is computed here but sums.
#pragma once

#include "blame/critical_path/critical_profile.h"
#include "blame/delay/delay.h"
#include "blame/delay/wait_sums.h"
#include "blame/findings/findings.h"
#include "blame/profile/time_series.h"

namespace culprit::blame {

/// Everything that explanations produced, for one run. Where several ranks analyse, each has what
/// concerns its own locations.
struct Explanations {
  DelayAnalysis delays;
  WaitSums waits;
  CriticalPath path;
  Profiles profiles;
  CriticalProfile critical;
  TimeCourse course;
};

/// What is known of each location and call path besides what is computed, by id.
std::vector<FoundLocation> found_locations(const replay::Run& run);
std::vector<FoundCallPath> found_callpaths(const replay::Run& run, unsigned threads);

/// Rows in no particular order (join_findings.h). Of several ranks each has its own locations'
/// rows, and the first what there is of all in common.
Findings collect_findings(const replay::Run& run, const replay::WaitGraph& graph,
                          const Explanations& explanations, unsigned threads);

}  // namespace culprit::blame
