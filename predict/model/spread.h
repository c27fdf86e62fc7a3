// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// How far off a hypothesis may be at a point, and how its errors at two points go together: what
// predictions and the choice of the next run have in common.
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
