// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Predictions: a mixture of Student's distributions, one of each formula, by their probabilities
// (J. A. Hoeting, D. Madigan, A. E. Raftery, C. T. Volinsky: Bayesian model averaging, Statistical
// Science 14, 1999).

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/statistics.h"
#include "predict/model/fit.h"
#include "predict/model/spread.h"

namespace culprit::predict {
namespace {

struct Part {
  double weight, middle, width, degrees;
};

double probability_below(const std::vector<Part>& parts, double value) {
  double sum = 0;
  for (const Part& part : parts) {
    if (part.width <= 0) {
      sum += part.weight * (value >= part.middle ? 1 : 0);
    } else {
      sum += part.weight * student_probability((value - part.middle) / part.width, part.degrees);
    }
  }
  return sum;
}

double quantile(const std::vector<Part>& parts, double probability) {
  double low = parts.front().middle, high = low;
  for (const Part& part : parts) {
    const double reach =
        part.width * student_quantile(std::max(probability, 1 - probability), part.degrees);
    low = std::min(low, part.middle - reach);
    high = std::max(high, part.middle + reach);
  }
  for (int i = 0; i < 100 && high - low > 1e-9 * (std::abs(low) + std::abs(high)); ++i) {
    const double middle = (low + high) / 2;
    (probability_below(parts, middle) < probability ? low : high) = middle;
  }
  return (low + high) / 2;
}

}  // namespace

std::vector<double> gradient(const Hypothesis& hypothesis, std::span<const double> point) {
  std::vector<double> all;
  if (hypothesis.has_constant) all.push_back(1);
  for (const Term& term : hypothesis.formula.terms) all.push_back(value(term, point));
  return all;
}

double covariance(const Hypothesis& hypothesis, std::span<const double> at,
                  std::span<const double> and_at) {
  const auto a = gradient(hypothesis, at), b = gradient(hypothesis, and_at);
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    for (size_t j = 0; j < b.size(); ++j) {
      sum += a[i] * hypothesis.covariance[i * b.size() + j] * b[j];
    }
  }
  return sum;
}

double run_variance(const Model& model, const Hypothesis& hypothesis,
                    std::span<const double> point) {
  return (hypothesis.scale + hypothesis.misfit) *
         model.noise.variance(value(hypothesis.formula, point));
}

Prediction predict(const Model& model, std::span<const double> point) {
  std::vector<Part> parts;
  for (const Hypothesis& each : model.hypotheses) {
    const double variance = covariance(each, point, point) + run_variance(model, each, point);
    parts.push_back({each.weight, value(each.formula, point), std::sqrt(variance), each.degrees});
  }
  const double outside = (1 - kConfidence) / 2;
  // No figure is below 0, though a formula may be where nothing was measured.
  const double expected = std::max(0.0, value(model.formula, point));
  return {expected, std::clamp(quantile(parts, outside), 0.0, expected),
          std::max(expected, quantile(parts, 1 - outside))};
}

std::pair<Shape, Shape> leads(const Model& model, size_t parameter) {
  std::pair<Shape, Shape> range;
  double seen = 0;
  const auto slower = [](const Shape& a, const Shape& b) {
    return std::pair(a.exponent(), a.logarithms) < std::pair(b.exponent(), b.logarithms);
  };
  for (const Hypothesis& each : model.hypotheses) {  // the likeliest first
    const Shape shape = lead(each.formula, parameter);
    if (seen == 0 || slower(shape, range.first)) range.first = shape;
    if (seen == 0 || slower(range.second, shape)) range.second = shape;
    if ((seen += each.weight) >= kConfidence) break;
  }
  return range;
}

}  // namespace culprit::predict
