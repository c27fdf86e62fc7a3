// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Counts as people read them: rounded, with ratios of two counts, and rates.
#pragma once

#include <string>
#include <vector>

#include "blame/judge/summary.h"

namespace culprit::report {

/// "ru_minflt 4 096 (12.3 k/s), PAPI_TOT_INS 1.23 G (2.1 a cycle)"; what is 0 is left out.
std::string counts_in_words(const std::vector<blame::FoundMetric>& metrics,
                            const blame::CountedPath& counted);

/// "4 096", "12.3 k", "1.23 G".
std::string short_count(double value);

}  // namespace culprit::report
