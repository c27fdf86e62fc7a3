// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The distributions by which judgements are made. Boost.Math computes them and stays behind this
// header, because it takes seconds to compile. Nothing here throws: a value that does not exist (of
// arguments out of range, or that are not numbers) is not a number either, which lies neither above
// nor below any threshold.
#pragma once

#include <cstddef>

namespace culprit {

/// The probability that a value of Student's distribution is below `t` (Student: The probable error
/// of a mean, Biometrika 6, 1908). Degrees of freedom are above 0, and need not be whole: Welch's
/// are not.
double student_probability(double t, double degrees);

/// The value below which a value of Student's distribution lies with `probability`, in (0, 1).
double student_quantile(double probability, double degrees);

/// The same of the normal distribution with mean 0 and deviation 1. The quantiles of 0 and 1 are
/// infinite.
double normal_probability(double x);
double normal_quantile(double probability);

/// The probability that at least `hits` of `tries` succeed, where each does with `probability`.
/// 0 where it is too small for a double.
double binomial_tail(size_t tries, size_t hits, double probability);

}  // namespace culprit
