// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// By Gram and Schmidt's orthogonalization, done twice, which is as accurate as Householder's here
// (G. W. Stewart: Matrix algorithms, volume 1, section 4.1.4): columns are powers and differ much
// in size, so they are brought to length 1 first.

#include "predict/model/least_squares.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace culprit::predict {
namespace {

/// A column that keeps less than this part of its length is a combination of those before it.
constexpr double kIndependent = 1e-9;

using Column = std::vector<double>;

double product(const Column& a, const Column& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

void subtract(Column& from, double times, const Column& what) {
  for (size_t i = 0; i < from.size(); ++i) from[i] -= times * what[i];
}

/// Columns of length 1 at right angles, and R, by rows, with which they give the columns again.
struct Orthogonal {
  std::vector<Column> q;
  std::vector<double> r;
};

std::optional<Orthogonal> orthogonal(std::span<const Column> columns, const Column& roots) {
  const size_t n = columns.size();
  Orthogonal out{{}, std::vector<double>(n * n)};
  for (size_t j = 0; j < n; ++j) {
    Column column = columns[j];
    for (size_t i = 0; i < column.size(); ++i) column[i] *= roots[i];
    const double length = std::sqrt(product(column, column));
    for (int twice = 0; twice < 2; ++twice) {
      for (size_t k = 0; k < j; ++k) {
        const double part = product(column, out.q[k]);
        subtract(column, part, out.q[k]);
        out.r[k * n + j] += part;
      }
    }
    const double rest = std::sqrt(product(column, column));
    if (!(rest > kIndependent * length)) return std::nullopt;  // nor if it is no number
    for (double& each : column) each /= rest;
    out.r[j * n + j] = rest;
    out.q.push_back(std::move(column));
  }
  return out;
}

/// The inverse of R, which is upper triangular.
std::vector<double> inverse_of(const std::vector<double>& r, size_t n) {
  std::vector<double> inverse(n * n);
  for (size_t j = 0; j < n; ++j) {
    for (size_t i = j + 1; i-- > 0;) {
      double sum = i == j ? 1 : 0;
      for (size_t k = i + 1; k <= j; ++k) sum -= r[i * n + k] * inverse[k * n + j];
      inverse[i * n + j] = sum / r[i * n + i];
    }
  }
  return inverse;
}

}  // namespace

std::optional<Fit> least_squares(std::span<const std::vector<double>> columns,
                                 std::span<const double> values, std::span<const double> weights) {
  const size_t n = columns.size();
  if (values.size() < n) return std::nullopt;
  Column roots, rest;
  for (size_t i = 0; i < values.size(); ++i) {
    roots.push_back(std::sqrt(weights[i]));
    rest.push_back(values[i] * roots[i]);
  }
  const auto base = orthogonal(columns, roots);
  if (!base) return std::nullopt;
  Column along(n);
  for (int twice = 0; twice < 2; ++twice) {
    for (size_t k = 0; k < n; ++k) {
      const double part = product(rest, base->q[k]);
      subtract(rest, part, base->q[k]);
      along[k] += part;
    }
  }
  const std::vector<double> upper = inverse_of(base->r, n);
  Fit fit{std::vector<double>(n), std::vector<double>(n * n), product(rest, rest)};
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = i; j < n; ++j) fit.coefficients[i] += upper[i * n + j] * along[j];
    for (size_t j = 0; j < n; ++j) {
      for (size_t k = std::max(i, j); k < n; ++k) {
        fit.inverse[i * n + j] += upper[i * n + k] * upper[j * n + k];
      }
    }
  }
  return fit;
}

}  // namespace culprit::predict
