// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Values of tables that everybody has.
#include "base/student.h"

#include <gtest/gtest.h>

#include <cmath>

namespace culprit {
namespace {

TEST(Student, QuantilesAreThoseOfTables) {
  EXPECT_NEAR(student_quantile(0.975, 1), 12.706, 5e-4);
  EXPECT_NEAR(student_quantile(0.975, 2), 4.303, 5e-4);
  EXPECT_NEAR(student_quantile(0.975, 10), 2.228, 5e-4);
  EXPECT_NEAR(student_quantile(0.995, 5), 4.032, 5e-4);
  EXPECT_NEAR(student_quantile(0.975, 1e6), 1.960, 5e-4);  // the normal distribution's
  EXPECT_NEAR(student_quantile(0.025, 10), -2.228, 5e-4);
  EXPECT_NEAR(student_quantile(0.5, 3), 0, 1e-9);
}

TEST(Student, ProbabilitiesOfOneAndTwoDegreesAreKnown) {
  for (const double t : {-30.0, -2.0, -0.1, 0.0, 0.5, 1.0, 7.0}) {
    EXPECT_NEAR(student_probability(t, 1), 0.5 + std::atan(t) / M_PI, 1e-10) << t;
    EXPECT_NEAR(student_probability(t, 2), 0.5 + t / (2 * std::sqrt(2 + t * t)), 1e-10) << t;
  }
}

}  // namespace
}  // namespace culprit
