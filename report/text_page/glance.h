// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Parts of the text report that are lists of short lines: the overview, which fits on a screen
// together with the verdict above it, and the longest single waits.
#pragma once

#include <string>
#include <string_view>

#include "report/words/names.h"

namespace culprit::report {

/// Returns efficiencies, the largest kinds of waiting, delays, parts of the critical path, and the
/// code executed while threads were idle; a few lines each, with shares only. "" if no location
/// ever waited.
std::string at_a_glance(const blame::Findings& findings, const PageNames& names);

/// "40.0 % of the threads' time is useful (MPI 60.8 % x OpenMP 65.7 %).": the parallel efficiency;
/// "" if it is unknown.
std::string efficiency_line(const blame::Findings& findings);

/// Returns the whole of root causes' shares: "all waiting time", except for a cut.
std::string_view all_waiting(const blame::Findings& findings);

/// The longest wait of each of the patterns that take most time: when, where, for whom.
std::string longest_waits(const blame::Findings& findings, const PageNames& names);

/// "4 of 64 overloaded, moving over time": how a delay's load and cost are distributed; "" if there
/// is nothing to say.
std::string distribution_words(const blame::Findings& findings, CallPathId callpath);

/// Returns the same as a sentence with its meaning.
std::string distribution_sentence(const blame::Findings& findings, CallPathId callpath);

}  // namespace culprit::report
