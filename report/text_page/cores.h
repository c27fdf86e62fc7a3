// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A section on missing cores: which programs had them, which processes lacked most, and when.
#pragma once

#include <string>

#include "blame/findings/findings.h"
#include "report/words/layout.h"

namespace culprit::report {

/// "" where threads had the cores that they wanted.
std::string core_section(const blame::Findings& findings, const TimeFormat& time);

}  // namespace culprit::report
