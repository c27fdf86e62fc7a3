// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Sections on what sums by call path show: how parallel regions use their threads, how work is
// spread over ranks, and time in the kernel.
#pragma once

#include <string>

#include "blame/findings/findings.h"
#include "report/words/layout.h"
#include "report/words/names.h"

namespace culprit::report {

/// Regions whose granularity is worth changing. Each section is empty if there is nothing to say.
std::string parallelism_section(const blame::Findings& findings, const PageNames& names,
                                const TimeFormat& time);
std::string spread_section(const blame::Findings& findings, const PageNames& names,
                           const TimeFormat& time);
std::string kernel_section(const blame::Findings& findings, const PageNames& names,
                           const TimeFormat& time);

}  // namespace culprit::report
