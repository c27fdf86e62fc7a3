// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// How much shorter the run would be without a delay (Findings::gains, function_gains), in words.
#pragma once

#include <string>

#include "blame/judge/causes.h"
#include "report/words/layout.h"
#include "report/words/names.h"

namespace culprit::report {

/// Returns the words on one call path: "Balanced, the run would be 0.43 s (21 %) shorter." "" if it
/// is not known, or if the call path costs next to nothing.
std::string gain_sentence(const blame::Findings& findings, CallPathId callpath,
                          const TimeFormat& time);

/// Returns the gain of changing a function, if known: that of the whole cause.
const blame::FoundFunctionGain* gain_of(const blame::Findings& findings, const blame::Cause& cause);

/// "0.8 s (19 %)".
std::string gained(double gain_s, const blame::Findings& findings, const TimeFormat& time);

/// "balanced over 4 ranks": the change that the row is about.
std::string change_in_short(const blame::Findings& findings, const blame::Cause& cause,
                            const blame::FoundFunctionGain& row);

/// Returns words for the end of a sentence: "; balanced over 4 ranks: 0.8 s (19 %) shorter". "" if
/// nothing is known.
std::string gain_in_short(const blame::Findings& findings, const blame::Cause& cause,
                          const TimeFormat& time);

/// Returns which delay would limit the gain of the first cause, a function, and which change would
/// gain more. "" if unknown.
std::string further_gains(const blame::Findings& findings, const blame::Cause& first,
                          const PageNames& names, const TimeFormat& time);

}  // namespace culprit::report
