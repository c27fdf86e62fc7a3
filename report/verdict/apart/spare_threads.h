// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The report's words on threads that slept while nobody needed them (replay/detect/spare): they are
// in none of its figures, so it says how many they are, and whose.
#pragma once

#include <string>

#include "report/words/layout.h"
#include "report/words/names.h"

namespace culprit::report {

/// "Spare threads: 15 in libopenblas slept 29.35 s, in which nobody needed them. ..."; ""
/// if that is next to nothing.
std::string spare_threads_sentence(const blame::Findings& findings, const PageNames& names,
                                   const TimeFormat& time);

/// Its first sentence, where they slept for much longer than the others were there; else "".
std::string spare_threads_in_short(const blame::Findings& findings, const PageNames& names,
                                   const TimeFormat& time);

/// A row for each function that such threads run, for the full page; "" likewise.
std::string spare_threads_section(const blame::Findings& findings, const PageNames& names,
                                  const TimeFormat& time);

}  // namespace culprit::report
