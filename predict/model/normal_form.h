// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The performance model normal form: a figure as a constant plus terms c * p^(i/j) * log2(p)^k, of
// several parameters as sums and products of such (A. Calotoiu, T. Hoefler, M. Poke, F. Wolf: Using
// automated performance modeling to find scalability bugs in complex codes, SC 2013; A. Calotoiu
// et al.: Fast multi-parameter performance modeling, CLUSTER 2016). Parameters are positive
// numbers; where one is below 1, its logarithm is not used.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace culprit::predict {

/// Values of the parameters, in their order.
using Point = std::vector<double>;

/// p^(numerator/denominator) * log2(p)^logarithms.
struct Shape {
  int8_t numerator = 0, denominator = 1, logarithms = 0;

  double exponent() const { return double{1} * numerator / denominator; }
  bool operator==(const Shape&) const = default;
};

/// All that are tried: growing ones, the slowest first, then those that shrink.
std::span<const Shape> shapes();

/// A shape of one parameter.
struct Factor {
  size_t parameter = 0;
  Shape shape;
  bool operator==(const Factor&) const = default;
};

/// A product of shapes of different parameters.
using Term = std::vector<Factor>;

struct Formula {
  double constant = 0;
  std::vector<Term> terms;
  std::vector<double> coefficients;  ///< of the terms
};

double value(const Shape& shape, double parameter);
double value(const Term& term, std::span<const double> point);
double value(const Formula& formula, std::span<const double> point);

/// Without bounds, if any of its factors is.
bool grows(const Term& term);

/// The fastest shape of a parameter in a formula; the constant one (0/1, 0) if it has none.
Shape lead(const Formula& formula, size_t parameter);

/// "0.02 + 0.0031 * ranks^(1/2) * log2(ranks)".
std::string text(const Formula& formula, std::span<const std::string> parameters);
/// "ranks^(1/2) * log2(ranks)".
std::string text(const Term& term, std::span<const std::string> parameters);

}  // namespace culprit::predict
