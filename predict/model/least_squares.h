// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Weighted least squares for a handful of columns.
#pragma once

#include <optional>
#include <span>
#include <vector>

namespace culprit::predict {

struct Fit {
  std::vector<double> coefficients;  ///< of the columns
  /// Inverse of A^T W A, by rows: times the variance of a value of weight 1, the covariance of the
  /// coefficients.
  std::vector<double> inverse;
  double squares = 0;  ///< sum of weight * (value - fitted)^2
};

/// Minimizes `squares`. Each column has a number for each value. None if columns depend on each
/// other, or there are fewer values than columns.
std::optional<Fit> least_squares(std::span<const std::vector<double>> columns,
                                 std::span<const double> values, std::span<const double> weights);

}  // namespace culprit::predict
