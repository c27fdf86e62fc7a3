// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Turns the results of the explanations (numbers and durations) into Findings (names and seconds).
// Only sums are computed here.
#pragma once

#include "blame/critical_path/critical_profile.h"
#include "blame/delay/delay.h"
#include "blame/delay/wait_sums.h"
#include "blame/findings/findings.h"
#include "blame/profile/time_series.h"

namespace culprit::blame {

/// All results of the explanations for one run. Where several ranks analyse, each has the results
/// for its own locations.
struct Explanations {
  DelayAnalysis delays;
  WaitSums waits;
  CriticalPath path;
  Profiles profiles;
  CriticalProfile critical;
  TimeSeries series;
};

/// Returns the rows of locations (and call paths) with the facts from the definitions, by id.
std::vector<FoundLocation> found_locations(const replay::Run& run);
std::vector<FoundCallPath> found_callpaths(const replay::Run& run, unsigned threads);

/// Returns rows in no particular order (join_findings.h). Each rank has its own locations' rows,
/// and the first rank also the rows that belong to all.
Findings collect_findings(const replay::Run& run, const replay::WaitGraph& graph,
                          const Explanations& explanations, unsigned threads);

}  // namespace culprit::blame
