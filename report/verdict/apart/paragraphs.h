// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What stands apart from the verdict of the full page, below it.
#pragma once

#include <string>

#include "report/words/layout.h"
#include "report/words/names.h"

namespace culprit::report {

/// Start-up and shutdown, spare threads and start-up skew: a paragraph for each that there
/// is something to say of.
std::string paragraphs_apart(const blame::Findings& findings, const PageNames& names,
                             const TimeFormat& time);

}  // namespace culprit::report
