// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The periods that culprit periods found, for people: a section of the report, and a line for who
// follows a run.
#pragma once

#include <string>
#include <vector>

#include "blame/findings/findings.h"

namespace culprit::report {

/// An entry for each series, then from which length on periods can be seen; "" if nothing was
/// asked. The heading is the caller's.
std::string periods_section(const std::vector<blame::FoundPeriod>& periods);

/// "bytes-written: every 250.3 ms (confidence 97 %); the next phase at 3.31 s, in 0.19 s" at a
/// moment `now_s` of the run; of a series without a period, why.
std::string period_line(const blame::FoundPeriod& period, double now_s);

}  // namespace culprit::report
