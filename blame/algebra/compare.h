// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Changes between runs, and whether they exceed run-to-run noise. With repeats on both sides, a
// difference of means exceeds noise if it lies outside of Welch's interval of 95 % (B. L. Welch,
// Biometrika 34, 1947); with one run each, this cannot be decided.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "blame/findings/findings.h"

namespace culprit::blame {

/// Returns half the width of Welch's interval of 95 % for the difference of the means; negative
/// with fewer than two values on either side.
double noise_of_difference(std::span<const double> before, std::span<const double> after);

/// `after` minus `before`, means of each, with tables `inputs` and `changes`. Neither is empty.
/// `names` of inputs: those before, then those after.
Findings difference(std::span<const Findings* const> before, std::span<const Findings* const> after,
                    std::span<const std::string> names);

/// Returns the change of a figure, summed over all functions whose names match `glob`; "": for the
/// run as a whole, which has no delay costs or critical path of its own.
FoundChange change_in(std::span<const Findings* const> before,
                      std::span<const Findings* const> after, ChangedFigure figure,
                      std::string_view glob);

/// Returns whether one of the runs has a function, construct or call that matches `glob`.
bool has_region(std::span<const Findings* const> runs, std::string_view glob);

}  // namespace culprit::blame
