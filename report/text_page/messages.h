// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The parts of the report about messages: where the pipeline of a sweep was refilled, by the corner
// it came from, and which messages carry little information.
#pragma once

#include <string>

#include "report/words/layout.h"
#include "report/words/names.h"

namespace culprit::report {

/// The section with its heading; "" if refills are less than a line's worth.
std::string refill_section(const blame::Findings& findings, const TimeFormat& time);

/// Likewise, if messages without data, or repeated ones, matter.
std::string message_section(const blame::Findings& findings, const PageNames& names,
                            const TimeFormat& time);

}  // namespace culprit::report
