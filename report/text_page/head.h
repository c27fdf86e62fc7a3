// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The first lines of a page: what ran, on how many, for how long.
#pragma once

#include <string>

#include "blame/findings/findings.h"
#include "report/words/layout.h"

namespace culprit::report {

std::string head_section(const blame::Findings& findings, const TimeFormat& time);

/// The same in two lines.
std::string head_in_short(const blame::Findings& findings, const TimeFormat& time);

/// "4 threads", "4 threads and 2 device streams".
std::string time_lines(const blame::Findings& findings);

}  // namespace culprit::report
