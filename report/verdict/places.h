// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The name of a cause, and the places of a cost that is spread over locations, in as few words as
// possible without being wrong.
#pragma once

#include <string>
#include <vector>

#include "blame/judge/causes.h"
#include "blame/judge/summary.h"
#include "report/words/names.h"

namespace culprit::report {

/// "solve (a.c:3)", "search and what it calls", "solve (not sampled)", "threads waking up".
std::string name_of(const blame::Cause& cause, const PageNames& names);

/// "on rank 3", "on rank 3 (75.0 %) and rank 5 (25.0 %)", "on rank 3 (60.0 %) and 11 more", "on 12
/// ranks, more than others on rank 3 (14.1 %)", "on 8 threads of rank 0", "spread over 64 ranks".
/// `shares` are the largest first, each location once. Percentages are of their sum.
std::string on_places(const std::vector<blame::Share>& shares, const blame::Findings& findings,
                      const PageNames& names);

}  // namespace culprit::report
