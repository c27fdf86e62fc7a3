// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The section on what was traced of a long run, and how surely it stands for all of it.
#pragma once

#include <string>

#include "blame/findings/findings.h"
#include "report/words/layout.h"
#include "report/words/names.h"

namespace culprit::report {

/// "" for a run that was traced whole.
std::string window_section(const blame::Findings& findings, const PageNames& names,
                           const TimeFormat& time);

/// Words to follow what a cost is, with its bounds; "" if it was not estimated.
std::string delay_bounds(const blame::Findings& findings, CallPathId callpath);
std::string wait_bounds(const blame::Findings& findings, CallPathId callpath,
                        std::string_view pattern);

}  // namespace culprit::report
