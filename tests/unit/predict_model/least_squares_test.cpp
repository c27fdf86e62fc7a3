// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "predict/model/least_squares.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace culprit::predict {
namespace {

TEST(LeastSquares, FitsALineByWeight) {
  const std::vector<std::vector<double>> columns = {{1, 1, 1}, {0, 1, 2}};
  const double values[] = {1, 3, 8}, weights[] = {1, 1, 1};
  const auto fit = least_squares(columns, values, weights);
  ASSERT_TRUE(fit);
  // Slope 7/2, mean 4: residuals 1/2, -1, 1/2.
  EXPECT_NEAR(fit->coefficients[0], 0.5, 1e-12);
  EXPECT_NEAR(fit->coefficients[1], 3.5, 1e-12);
  EXPECT_NEAR(fit->squares, 1.5, 1e-12);
  // The inverse of {{3, 3}, {3, 5}}.
  EXPECT_NEAR(fit->inverse[0], 5.0 / 6, 1e-12);
  EXPECT_NEAR(fit->inverse[1], -0.5, 1e-12);
  EXPECT_NEAR(fit->inverse[3], 0.5, 1e-12);
  const double certain[] = {1, 1, 0};  // the last counts for nothing
  EXPECT_NEAR(least_squares(columns, values, certain)->coefficients[1], 2, 1e-12);
}

TEST(LeastSquares, StandsSizesThatDiffer) {
  const std::vector<std::vector<double>> columns = {{1, 1, 1, 1}, {1e12, 8e12, 27e12, 64e12}};
  std::vector<double> values;
  for (const double each : columns[1]) values.push_back(3 + 2e-12 * each);
  const double weights[] = {1, 1, 1, 1};
  const auto fit = least_squares(columns, values, weights);
  ASSERT_TRUE(fit);
  EXPECT_NEAR(fit->coefficients[0], 3, 1e-9);
  EXPECT_NEAR(fit->coefficients[1], 2e-12, 1e-21);
}

TEST(LeastSquares, GoesThroughAsManyValuesAsColumns) {
  const std::vector<std::vector<double>> columns = {{1, 1}, {2, 5}};
  const double values[] = {4, 10}, weights[] = {1, 7};
  const auto fit = least_squares(columns, values, weights);
  ASSERT_TRUE(fit);
  EXPECT_NEAR(fit->coefficients[0], 0, 1e-12);
  EXPECT_NEAR(fit->coefficients[1], 2, 1e-12);
  EXPECT_EQ(fit->squares, 0);
}

// The normal equations, with more digits: for columns that are far from dependent they do.
TEST(LeastSquares, SolvesTheNormalEquations) {
  std::mt19937 dice(7);
  std::uniform_real_distribution<double> uniform(0.5, 2);
  for (int round = 0; round < 50; ++round) {
    const size_t rows = 2 + dice() % 10;
    std::vector<std::vector<double>> columns(2, std::vector<double>(rows));
    std::vector<double> values(rows), weights(rows);
    long double aa = 0, ab = 0, bb = 0, av = 0, bv = 0, vv = 0;
    for (size_t i = 0; i < rows; ++i) {
      const double a = columns[0][i] = uniform(dice);
      const double b = columns[1][i] = 1e6 * uniform(dice) * static_cast<double>(i);
      const double v = values[i] = uniform(dice);
      const long double w = weights[i] = uniform(dice);
      aa += w * a * a, ab += w * a * b, bb += w * b * b;
      av += w * a * v, bv += w * b * v, vv += w * v * v;
    }
    const long double determinant = aa * bb - ab * ab;
    const auto fit = least_squares(columns, values, weights);
    ASSERT_TRUE(fit);
    const auto near = [](double is, long double wanted, long double size) {
      EXPECT_NEAR(is, static_cast<double>(wanted), static_cast<double>(1e-10L * std::abs(size)));
    };
    const long double first = (bb * av - ab * bv) / determinant;
    const long double second = (aa * bv - ab * av) / determinant;
    near(fit->coefficients[0], first, 1);
    near(fit->coefficients[1], second, 1e-6L);
    near(fit->inverse[0], bb / determinant, bb / determinant);
    near(fit->inverse[1], -ab / determinant, ab / determinant);
    EXPECT_EQ(fit->inverse[1], fit->inverse[2]);
    near(fit->inverse[3], aa / determinant, aa / determinant);
    near(fit->squares, vv - first * av - second * bv, vv);
  }
}

TEST(LeastSquares, RefusesColumnsThatAreNothingOrNoNumbers) {
  const double values[] = {1, 2, 4}, weights[] = {1, 1, 1};
  for (const double bad :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(), 0.0}) {
    const std::vector<std::vector<double>> columns = {{1, 1, 1}, {bad, bad, bad}};
    EXPECT_FALSE(least_squares(columns, values, weights)) << bad;
  }
  const std::vector<std::vector<double>> line = {{1, 1, 1}, {1, 2, 3}};
  EXPECT_FALSE(least_squares(line, values, std::vector<double>{0, 0, 1}));
}

TEST(LeastSquares, RefusesWhatCannotBeTold) {
  const std::vector<std::vector<double>> same = {{1, 1, 1}, {2, 2, 2}};
  const double values[] = {1, 2, 3}, weights[] = {1, 1, 1};
  EXPECT_FALSE(least_squares(same, values, weights));
  const std::vector<std::vector<double>> many = {{1}, {2}};
  EXPECT_FALSE(least_squares(many, std::vector<double>{1}, std::vector<double>{1}));
}

}  // namespace
}  // namespace culprit::predict
