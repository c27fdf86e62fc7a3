// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Student's distribution, by which means of few values differ (Student: The probable error of a
// mean, Biometrika 6, 1908). Degrees of freedom need not be whole (Welch's are not).
#pragma once

namespace culprit {

/// The probability of a value below `t`. `degrees` > 0.
double student_probability(double t, double degrees);

/// The value below which others are with `probability`, which is in (0, 1).
double student_quantile(double probability, double degrees);

}  // namespace culprit
