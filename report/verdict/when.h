// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// When a cause of waiting costs, and whether it moves, as parts of a sentence (blame/when/).
#pragma once

#include <string>

#include "blame/judge/causes.h"
#include "report/words/layout.h"
#include "report/words/names.h"

namespace culprit::report {

/// Returns the distribution over time of the cause's costliest call path, if that has most of its
/// cost.
const blame::FoundDistribution* over_time(const blame::Findings& findings,
                                          const blame::Cause& cause);

/// ", once, at 2.37 s (iteration 600)", ", every 10th step", ", from 3.1 s on", ", 2 ms more each
/// step"; "" where it is steady.
std::string when_words(const blame::FoundDistribution& row, const blame::Findings& findings,
                       const TimeFormat& time);

/// ", which moves from rank to rank"; "" where it stays.
std::string movement_words(const blame::FoundDistribution& row, const blame::Findings& findings);

}  // namespace culprit::report
