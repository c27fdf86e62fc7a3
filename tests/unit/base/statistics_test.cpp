// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Values of tables that everybody has, and of formulas for cases that have one.
#include "base/statistics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace culprit {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

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

TEST(Student, ProbabilityAndQuantileAreInverse) {
  for (const double degrees : {0.3, 1.7, 4.0, 55.5, 1e4}) {
    for (const double p : {1e-6, 0.025, 0.4, 0.9, 0.9999}) {
      EXPECT_NEAR(student_probability(student_quantile(p, degrees), degrees) / p, 1, 1e-9)
          << p << " " << degrees;
    }
  }
}

TEST(Normal, IsThatOfTables) {
  EXPECT_NEAR(normal_probability(0), 0.5, 1e-15);
  EXPECT_NEAR(normal_probability(1.959964), 0.975, 1e-8);
  EXPECT_NEAR(normal_quantile(0.95), 1.644854, 1e-6);
  EXPECT_NEAR(normal_quantile(0.001), -3.090232, 1e-6);
  EXPECT_NEAR(normal_probability(-10) / 7.619853e-24, 1, 1e-6);
  EXPECT_EQ(normal_quantile(0), -kInfinity);
  EXPECT_EQ(normal_quantile(1), kInfinity);
}

TEST(Binomial, TailIsTheSumThatDefinesIt) {
  for (const double p : {0.001, 0.2, 0.5, 0.97}) {
    for (size_t tries = 0; tries <= 12; ++tries) {
      double sum = 0, ways = 1;  // of as many hits
      for (size_t hits = tries + 1; hits-- > 0;) {
        const auto k = static_cast<double>(hits), n = static_cast<double>(tries);
        sum += ways * std::pow(p, k) * std::pow(1 - p, n - k);
        ways = ways * k / (n - k + 1);
        EXPECT_NEAR(binomial_tail(tries, hits, p) / sum, 1, 1e-10) << tries << " " << hits;
      }
    }
  }
}

TEST(Binomial, EndsAreExact) {
  EXPECT_EQ(binomial_tail(0, 0, 0.5), 1);
  EXPECT_EQ(binomial_tail(5, 6, 0.5), 0);
  EXPECT_EQ(binomial_tail(5, 3, 0), 0);
  EXPECT_EQ(binomial_tail(5, 3, 1), 1);
  EXPECT_NEAR(binomial_tail(600, 600, 1.0 / 3) / std::pow(1.0 / 3, 600), 1, 1e-9);
  EXPECT_EQ(binomial_tail(100'000, 100'000, 1.0 / 3), 0);  // too small for a double
}

// Damaged data may lead to any of these; no judgement may end the tool.
TEST(Statistics, WhatDoesNotExistIsNotANumber) {
  for (const double p : {-1.0, 2.0, kNan}) {
    EXPECT_TRUE(std::isnan(student_quantile(p, 3))) << p;
    EXPECT_TRUE(std::isnan(normal_quantile(p))) << p;
    EXPECT_TRUE(std::isnan(binomial_tail(5, 3, p))) << p;
  }
  for (const double degrees : {-1.0, 0.0, kNan}) {
    EXPECT_TRUE(std::isnan(student_quantile(0.9, degrees))) << degrees;
    EXPECT_TRUE(std::isnan(student_probability(0.9, degrees))) << degrees;
  }
  EXPECT_TRUE(std::isnan(student_probability(kNan, 3)));
  EXPECT_TRUE(std::isnan(normal_probability(kNan)));
  EXPECT_EQ(student_probability(kInfinity, 3), 1);
  EXPECT_NEAR(student_quantile(0.975, kInfinity), 1.959964, 1e-6);
}

}  // namespace
}  // namespace culprit
