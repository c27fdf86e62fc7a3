// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Run-to-run noise, estimated from repeats: the variance of a value is modelled as scale^2 *
// size^(2 * power), with one scale for all points. With power 1, noise is a share of the value, as
// that of run times is; 0 and 1/2 are taken if repeats clearly say so (a power of the mean: R. J.
// Carroll, D. Ruppert: Transformation and weighting in regression, 1988, chapter 3).
#pragma once

#include <span>
#include <vector>

#include "predict/model/normal_form.h"

namespace culprit::predict {

/// The values measured at a point, in each of its runs.
struct Sample {
  Point point;
  std::vector<double> values;  ///< one at least
};

double mean(const Sample& sample);

struct Noise {
  double power = 1;
  double floor = 0;    ///< sizes below count as this: nothing is known without any error
  double squares = 0;  ///< of repeats around their means, in units of variance(size)
  double degrees = 0;  ///< of freedom of these squares
  /// Of a value of that size, by a scale of 1.
  double variance(double size) const;
};

/// `sizes` are what the values of each sample are about; not all are 0.
Noise noise_of(std::span<const Sample> samples, std::span<const double> sizes);

}  // namespace culprit::predict
