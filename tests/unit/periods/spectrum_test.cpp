// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "predict/periods/spectrum.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>

namespace culprit::predict {
namespace {

std::vector<double> random_values(size_t count) {
  std::mt19937 dice(static_cast<unsigned>(count));
  std::normal_distribution<double> normal;
  std::vector<double> values(count);
  for (double& value : values) value = normal(dice);
  return values;
}

TEST(Spectrum, IsTheSumThatDefinesIt) {
  for (size_t n = 1; n <= 70; ++n) {
    const std::vector<double> values = random_values(n);
    const auto x = fourier(values);
    ASSERT_EQ(x.size(), n);
    for (size_t k = 0; k < n; ++k) {
      std::complex<double> sum;
      for (size_t j = 0; j < n; ++j) {
        sum += values[j] * std::polar(1.0, -2 * std::numbers::pi * static_cast<double>(j * k % n) /
                                               static_cast<double>(n));
      }
      EXPECT_NEAR(std::abs(x[k] - sum), 0, 1e-10) << n << " " << k;
    }
  }
}

TEST(Spectrum, AutocorrelationIsTheSumThatDefinesIt) {
  const std::vector<double> values = random_values(53);
  double mean = 0, squares = 0;
  for (const double value : values) mean += value / 53;
  for (const double value : values) squares += (value - mean) * (value - mean);
  const auto lags = autocorrelation(values);
  for (size_t lag = 0; lag < 53; ++lag) {
    double sum = 0;
    for (size_t i = 0; i + lag < 53; ++i) sum += (values[i] - mean) * (values[i + lag] - mean);
    EXPECT_NEAR(lags[lag], sum / squares, 1e-10) << lag;
  }
  EXPECT_EQ(autocorrelation(std::vector<double>(8, 3.0)), std::vector<double>(8, 0.0));
}

TEST(Spectrum, TrendsAreTakenAway) {
  std::vector<double> line;
  for (int i = 0; i < 11; ++i) line.push_back(5 - 0.25 * i);
  for (const double rest : without_trend(line)) EXPECT_NEAR(rest, 0, 1e-12);
}

TEST(Spectrum, OneFrequencyDominatesWithoutItsMultiples) {
  std::vector<double> values(200);
  for (size_t i = 0; i < values.size(); ++i) values[i] = i % 20 < 2;  // ten periods, many multiples
  const auto dominant = dominant_frequencies(power_of(values));
  ASSERT_EQ(dominant.size(), 1u);
  EXPECT_EQ(dominant[0].periods, 10u);
  EXPECT_NEAR(dominant[0].confidence, 1, 1e-9);
  EXPECT_TRUE(dominant_frequencies(power_of(random_values(200))).size() <= 2);
  EXPECT_TRUE(dominant_frequencies({}).empty());
}

}  // namespace
}  // namespace culprit::predict
