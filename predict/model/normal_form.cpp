// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The growing shapes are those of Extra-P 4.2, so that models can be compared. Those that shrink
// are without logarithms: a share of the work, and what is left of it.

#include "predict/model/normal_form.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

namespace culprit::predict {
namespace {

constexpr std::array kShapes = std::to_array<Shape>({
    {0, 1, 1},  {0, 1, 2},  {1, 4, 0},  {1, 3, 0},   {1, 4, 1},  {1, 3, 1},  {1, 4, 2},  {1, 3, 2},
    {1, 2, 0},  {1, 2, 1},  {1, 2, 2},  {2, 3, 0},   {3, 4, 0},  {2, 3, 1},  {3, 4, 1},  {4, 5, 0},
    {2, 3, 2},  {3, 4, 2},  {1, 1, 0},  {1, 1, 1},   {1, 1, 2},  {5, 4, 0},  {5, 4, 1},  {4, 3, 0},
    {4, 3, 1},  {3, 2, 0},  {3, 2, 1},  {3, 2, 2},   {5, 3, 0},  {7, 4, 0},  {2, 1, 0},  {2, 1, 1},
    {2, 1, 2},  {9, 4, 0},  {7, 3, 0},  {5, 2, 0},   {5, 2, 1},  {5, 2, 2},  {8, 3, 0},  {11, 4, 0},
    {3, 1, 0},  {3, 1, 1},  {-1, 4, 0}, {-1, 3, 0},  {-1, 2, 0}, {-2, 3, 0}, {-3, 4, 0}, {-4, 5, 0},
    {-1, 1, 0}, {-5, 4, 0}, {-4, 3, 0}, {-3, 2, 0},  {-5, 3, 0}, {-7, 4, 0}, {-2, 1, 0}, {-9, 4, 0},
    {-7, 3, 0}, {-5, 2, 0}, {-8, 3, 0}, {-11, 4, 0}, {-3, 1, 0},
});

/// Of two shapes, the one that is larger for large parameters.
bool faster(const Shape& a, const Shape& b) {
  if (a.exponent() != b.exponent()) return a.exponent() > b.exponent();
  return a.logarithms > b.logarithms;
}

std::string text(const Factor& factor, std::span<const std::string> parameters) {
  const Shape& shape = factor.shape;
  const std::string& name = parameters[factor.parameter];
  std::string words;
  if (shape.numerator != 0) {
    words = name;
    if (shape.denominator != 1) {
      words += fmt::format("^({}/{})", shape.numerator, shape.denominator);
    } else if (shape.numerator != 1) {
      words += fmt::format("^{}", shape.numerator);
    }
  }
  if (shape.logarithms == 0) return words;
  if (!words.empty()) words += " * ";
  words += fmt::format("log2({})", name);
  return shape.logarithms == 1 ? words : words + fmt::format("^{}", shape.logarithms);
}

}  // namespace

std::span<const Shape> shapes() {
  return kShapes;
}

double value(const Shape& shape, double parameter) {
  double power = shape.numerator == 0 ? 1 : std::pow(parameter, shape.exponent());
  for (int i = 0; i < shape.logarithms; ++i) power *= std::log2(parameter);
  return power;
}

double value(const Term& term, std::span<const double> point) {
  double product = 1;
  for (const Factor& factor : term) product *= value(factor.shape, point[factor.parameter]);
  return product;
}

double value(const Formula& formula, std::span<const double> point) {
  double sum = formula.constant;
  for (size_t i = 0; i < formula.terms.size(); ++i) {
    sum += formula.coefficients[i] * value(formula.terms[i], point);
  }
  return sum;
}

bool grows(const Term& term) {
  for (const Factor& factor : term) {
    if (factor.shape.numerator >= 0) return true;
  }
  return false;
}

Shape lead(const Formula& formula, size_t parameter) {
  Shape fastest;
  bool found = false;
  for (const Term& term : formula.terms) {
    for (const Factor& factor : term) {
      if (factor.parameter != parameter) continue;
      if (!found || faster(factor.shape, fastest)) fastest = factor.shape;
      found = true;
    }
  }
  return fastest;
}

std::string text(const Term& term, std::span<const std::string> parameters) {
  std::string words;
  for (const Factor& factor : term) {
    words += (words.empty() ? "" : " * ") + text(factor, parameters);
  }
  return words;
}

std::string text(const Formula& formula, std::span<const std::string> parameters) {
  std::string words;
  if (formula.constant != 0 || formula.terms.empty()) {
    words = fmt::format("{:.3g}", formula.constant);
  }
  for (size_t i = 0; i < formula.terms.size(); ++i) {
    const double coefficient = formula.coefficients[i];
    if (words.empty()) {
      words = coefficient < 0 ? "-" : "";
    } else {
      words += coefficient < 0 ? " - " : " + ";
    }
    words += fmt::format("{:.3g} * {}", std::abs(coefficient), text(formula.terms[i], parameters));
  }
  return words;
}

}  // namespace culprit::predict
