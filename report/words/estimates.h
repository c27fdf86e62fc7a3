// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// How pages put what was estimated from windows of a run: the value, and how surely it is known.
#pragma once

#include <string>
#include <string_view>

#include "blame/findings/findings.h"

namespace culprit::report {

/// Null if it was not estimated, as in a run that was traced whole.
const blame::FoundEstimate* find_estimate(const blame::Findings& findings,
                                          blame::EstimatedFigure figure, CallPathId callpath,
                                          std::string_view pattern = "");

/// "61 +- 4 %", "3.2 +- 0.4 %"; where one side is much wider, "61 % (58 to 90 %)". All are parts.
std::string with_interval(double part, double low, double high);

/// "between 11.20 s and 13.00 s, 61 +- 4 % of the waiting"
std::string bounds_in_words(const blame::FoundEstimate& estimate, std::string_view whole,
                            double run_s);

/// "24 windows that cover 1.3 % of 6.2 h"; "" if there are none.
std::string windows_in_words(const blame::Findings& findings);

/// "6.2 h", "25 min", "38.2 s".
std::string length_in_words(double seconds);

}  // namespace culprit::report
