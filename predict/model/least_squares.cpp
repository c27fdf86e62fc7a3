// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// By Householder's orthogonalization. Columns are powers and differ much in size, so they are
// brought to length 1 first.

#include "predict/model/least_squares.h"

#include <Eigen/QR>

namespace culprit::predict {
namespace {

using Array = Eigen::ArrayXd;
using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;

/// A column that keeps less than this part of its length is a combination of those before it.
constexpr double kIndependent = 1e-9;

Array array_of(std::span<const double> values) {
  return Eigen::Map<const Array>(values.data(), static_cast<Eigen::Index>(values.size()));
}

}  // namespace

std::optional<Fit> least_squares(std::span<const std::vector<double>> columns,
                                 std::span<const double> values, std::span<const double> weights) {
  const auto rows = static_cast<Eigen::Index>(values.size());
  const auto n = static_cast<Eigen::Index>(columns.size());
  if (rows < n) return std::nullopt;
  const Array roots = array_of(weights).sqrt();
  Matrix a(rows, n);
  for (Eigen::Index j = 0; j < n; ++j) a.col(j) = array_of(columns[static_cast<size_t>(j)]) * roots;
  const Vector lengths = a.colwise().norm();
  a *= lengths.cwiseInverse().asDiagonal();
  const Eigen::HouseholderQR<Matrix> qr(a);
  const auto r = qr.matrixQR().topRows(n);
  if (!(r.diagonal().array().abs() > kIndependent).all()) return std::nullopt;  // nor if it is NaN
  const Vector along = qr.householderQ().adjoint() * (array_of(values) * roots).matrix();
  // The inverse of R, for columns of the length that they have.
  Matrix inverse = Matrix::Identity(n, n);
  r.triangularView<Eigen::Upper>().solveInPlace(inverse);
  inverse = (lengths.cwiseInverse().asDiagonal() * inverse).eval();
  const Vector coefficients = inverse * along.head(n);
  const Matrix product = inverse * inverse.transpose();  // symmetric: by rows as by columns
  return Fit{{coefficients.begin(), coefficients.end()},
             {product.data(), product.data() + product.size()},
             along.tail(rows - n).squaredNorm()};
}

}  // namespace culprit::predict
