// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// By the incomplete beta function, as a continued fraction (Abramowitz and Stegun, Handbook of
// mathematical functions, 26.5.8 and 26.7.1), evaluated by Lentz's method.

#include "base/student.h"

#include <cmath>

namespace culprit {
namespace {

constexpr double kPrecision = 1e-13;

double nonzero(double value) {
  return std::abs(value) < 1e-300 ? 1e-300 : value;
}

/// The continued fraction; converges fast for x < (a + 1) / (a + b + 2).
double beta_fraction(double a, double b, double x) {
  double c = 1, d = 1 / nonzero(1 - (a + b) * x / (a + 1)), fraction = d;
  for (int m = 1; m < 1000; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / nonzero(1 + even * d);
    c = nonzero(1 + even / c);
    fraction *= d * c;
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / nonzero(1 + odd * d);
    c = nonzero(1 + odd / c);
    fraction *= d * c;
    if (std::abs(d * c - 1) < kPrecision) break;
  }
  return fraction;
}

/// Regularized, I_x(a, b).
double incomplete_beta(double a, double b, double x) {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  const double front = std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) +
                                a * std::log(x) + b * std::log1p(-x));
  return x < (a + 1) / (a + b + 2) ? front * beta_fraction(a, b, x) / a
                                   : 1 - front * beta_fraction(b, a, 1 - x) / b;
}

}  // namespace

double student_probability(double t, double degrees) {
  const double square = t * t, sum = degrees + square;
  const double outside = square < degrees
                             ? 0.5 - incomplete_beta(0.5, degrees / 2, square / sum) / 2
                             : incomplete_beta(degrees / 2, 0.5, degrees / sum) / 2;
  return t < 0 ? outside : 1 - outside;
}

double student_quantile(double probability, double degrees) {
  double low = -1, high = 1;
  while (student_probability(low, degrees) > probability) low *= 2;
  while (student_probability(high, degrees) < probability) high *= 2;
  for (int i = 0; i < 200 && high - low > kPrecision * (1 + std::abs(low)); ++i) {
    const double middle = (low + high) / 2;
    (student_probability(middle, degrees) < probability ? low : high) = middle;
  }
  return (low + high) / 2;
}

}  // namespace culprit
