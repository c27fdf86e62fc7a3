// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The variance of a hypothesis at a point, and the covariance of its errors at two points: used by
// predictions and by the choice of the next run.
#pragma once

#include <span>

#include "predict/model/fit.h"

namespace culprit::predict {

/// Of the formula's values at two points, by the uncertainty of its coefficients.
double covariance(const Hypothesis& hypothesis, std::span<const double> at,
                  std::span<const double> and_at);

/// Of one run at the point around the formula's value.
double run_variance(const Model& model, const Hypothesis& hypothesis,
                    std::span<const double> point);

}  // namespace culprit::predict
