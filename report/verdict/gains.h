// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// How much shorter the run would be without a delay (Findings::gains, function_gains), in words.
#pragma once

#include <string>

#include "report/page/layout.h"
#include "report/page/names.h"
#include "report/verdict/causes.h"

namespace culprit::report {

/// Of one call path: "Balanced, the run would be 0.43 s (21 %) shorter." "" if it is not known, or
/// if the call path costs next to nothing.
std::string gain_sentence(const blame::Findings& findings, CallPathId callpath,
                          const TimeFormat& time);

/// What a change of the first cause, a function, would bring, what would bring most, and whether
/// the next delay stands behind the first. "" if nothing is known of it.
std::string gain_verdict(const blame::Findings& findings, const Cause& first,
                         const PageNames& names, const TimeFormat& time);

}  // namespace culprit::report
