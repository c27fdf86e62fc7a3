// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "predict/model/least_squares.h"

#include <gtest/gtest.h>

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

TEST(LeastSquares, RefusesWhatCannotBeTold) {
  const std::vector<std::vector<double>> same = {{1, 1, 1}, {2, 2, 2}};
  const double values[] = {1, 2, 3}, weights[] = {1, 1, 1};
  EXPECT_FALSE(least_squares(same, values, weights));
  const std::vector<std::vector<double>> many = {{1}, {2}};
  EXPECT_FALSE(least_squares(many, std::vector<double>{1}, std::vector<double>{1}));
}

}  // namespace
}  // namespace culprit::predict
