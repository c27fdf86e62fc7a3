// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The results of culprit diff, in words.
#pragma once

#include <string>

#include "blame/findings/findings.h"
#include "report/words/layout.h"

namespace culprit::report {

/// Returns what got worse, what got better, and whether that exceeds noise. For findings with
/// changes.
std::string change_sentence(const blame::Findings& findings);

/// "The run takes 0.30 s (12.3 %) less: 2.14 s instead of 2.44 s".
std::string change_of_wall(const blame::Findings& findings);

/// "+0.30 s", "-0.30 s"; without a sign if it is too small to be shown.
std::string signed_time(double seconds, const TimeFormat& time);

/// "+0.31 s (+12.3 %)", "+4.10 s (42 times as much)". No share of what is too small to be shown.
std::string change_amount(const blame::FoundChange& row, const TimeFormat& time);

/// A change counts where its noise is unknown.
bool within_noise(const blame::FoundChange& row);

/// Returns the time format in the unit that suits the longer run.
TimeFormat time_of_changes(const blame::Findings& findings);

}  // namespace culprit::report
