// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What would shorten the run, whatever kind of cost it is: a function that others wait for, many
// small messages, threads bound to one core. All compete by the time that the run would save.
#pragma once

#include <string>
#include <vector>

#include "report/verdict/verdict_data.h"
#include "report/words/layout.h"
#include "report/words/names.h"

namespace culprit::report {

/// A saving of less of the run is not listed.
inline constexpr double kWorthSaving = 0.01;

/// Returns the changes of which the saving is known and worth a line, the largest first. A cost
/// that explains others (Rival::explains_waiting) comes before them.
std::vector<Saving> savings(const Verdict& verdict, const blame::Findings& findings,
                            const PageNames& names, const TimeFormat& time);

}  // namespace culprit::report
