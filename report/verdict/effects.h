// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The words of the page's rows on the effects of a delay, and on places, with times.
#pragma once

#include <string>
#include <vector>

#include "blame/judge/summary.h"
#include "report/words/layout.h"
#include "report/words/names.h"

namespace culprit::report {

/// "rank 3 (0.90 s), rank 1 (0.80 s) and 12 more": the worst locations, and how many more there are
/// if that matters. Without a time if it is one alone.
std::string worst_places(const std::vector<blame::Share>& shares, const PageNames& names,
                         const TimeFormat& time);

/// "It made rank 1 wait 0.20 s in MPI_Recv [Late sender]. Waits that follow from these: 0.40 s."
/// Findings have the victims of the costliest
/// delays alone (blame/delay/victims.h): where those are not nearly all, the sums are those of the
/// delays, and victims are examples. "" if there is nothing to say.
std::string effects_in_words(const blame::Blamed& blamed, const PageNames& names,
                             const TimeFormat& time);

}  // namespace culprit::report
