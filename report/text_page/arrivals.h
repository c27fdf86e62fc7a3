// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The part of the report about collective operations in which all wait for all: what members wait
// for each other, what the operation takes then, and who comes last how often.
#pragma once

#include <string>

#include "report/words/layout.h"
#include "report/words/names.h"

namespace culprit::report {

/// The section with its heading; "" if members wait for each other less than a line's worth.
std::string arrival_section(const blame::Findings& findings, const PageNames& names,
                            const TimeFormat& time);

}  // namespace culprit::report
