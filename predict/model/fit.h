// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The formula that explains measured values best, and how sure that is. Formulas are fitted by
// weighted least squares to all repeats, not to their means alone, and compared by how likely they
// make the values, given the noise between repeats: not one formula is kept, but all with their
// probabilities, so that a prediction knows what the values leave open (docs/models.md has the
// formulas, and their sources).
#pragma once

#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "predict/model/noise.h"
#include "predict/model/normal_form.h"

namespace culprit::predict {

/// A term that is nowhere more than this part of the measured value is none (Extra-P's limit).
inline constexpr double kLeastContribution = 5e-4;

/// A formula with its probability.
struct Hypothesis {
  Formula formula;
  double weight = 0;  ///< those of a model add up to 1
  /// Covariance of the constant and the coefficients, by rows; without the constant, if it has
  /// none.
  std::vector<double> covariance;
  bool has_constant = true;
  double scale = 0;    ///< squared: variance of a run of size 1 (see Noise)
  double misfit = 0;   ///< variance that no repeat shows, in the same units: the formula's fault
  double degrees = 1;  ///< of freedom
};

struct Model {
  Formula formula;
  std::vector<Hypothesis> hypotheses;  ///< the likeliest first
  std::vector<double> effects;         ///< of each parameter: the probability that it has one
  std::vector<Point> points;           ///< that were measured
  Noise noise;
  double noise_share = 0;  ///< standard deviation of a run, as part of the value; negative: unknown
  double error = 0;        ///< cross-validated: symmetric mean absolute error, as part of the value
  double adjusted_r2 = 0;  ///< 0 for a constant
};

/// What a run would give, with the interval in which it lies with `kConfidence`.
struct Prediction {
  double expected = 0, low = 0, high = 0;
};
inline constexpr double kConfidence = 0.95;

/// None if a value is below 0 or all are 0, or there are fewer than kLeastPoints samples. All
/// points have the same number of parameters, at most kMostParameters; each sample's point is
/// another one.
std::optional<Model> fit(std::span<const Sample> samples);
inline constexpr size_t kLeastPoints = 5;

Prediction predict(const Model& model, std::span<const double> point);

/// The slowest and the fastest lead of a parameter that the values leave open (95 %).
std::pair<Shape, Shape> leads(const Model& model, size_t parameter);

}  // namespace culprit::predict
