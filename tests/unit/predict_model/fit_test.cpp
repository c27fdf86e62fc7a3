// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Functions that are known by construction: without noise they are found exactly; with noise, as
// often as chance allows, and intervals hold what they promise. Seeds are fixed.

#include "predict/model/fit.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/unit/predict_model/generated.h"

namespace culprit::predict {
namespace {

const std::vector<Point> kRanks = line({4, 8, 16, 32, 64});
constexpr double kFar = 256;

TEST(Fit, FindsEachShapeWithItsCoefficients) {
  for (const Shape& shape : shapes()) {
    const auto model =
        fit(generated([&](const Point& p) { return 3 + 0.25 * value(shape, p[0]); }, kRanks));
    ASSERT_TRUE(model);
    EXPECT_EQ(lead(model->formula, 0), shape) << shape.exponent() << " " << int{shape.logarithms};
    ASSERT_EQ(model->formula.coefficients.size(), 1u);
    EXPECT_NEAR(model->formula.coefficients[0], 0.25, 1e-6);
    EXPECT_NEAR(model->formula.constant, 3, 1e-6);
    EXPECT_LT(model->error, 1e-6);
    const double far = 3 + 0.25 * value(shape, kFar);
    const Prediction predicted = predict(*model, Point{kFar});
    EXPECT_NEAR(predicted.expected, far, 1e-6 * far);
    EXPECT_NEAR(predicted.low, far, 1e-4 * far);
    EXPECT_NEAR(predicted.high, far, 1e-4 * far);
  }
}

TEST(Fit, CallsAConstantConstant) {
  const auto exact = fit(generated([](const Point&) { return 7.0; }, kRanks, 2));
  ASSERT_TRUE(exact);
  EXPECT_TRUE(exact->formula.terms.empty());
  EXPECT_DOUBLE_EQ(exact->formula.constant, 7);
  int constant = 0;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    const auto model = fit(generated([](const Point&) { return 7.0; }, kRanks, 3, 0.05, seed));
    constant += model->formula.terms.empty();
  }
  EXPECT_GE(constant, 190);
}

TEST(Fit, FindsPerfectStrongScaling) {
  const auto model = fit(generated([](const Point& p) { return 100 / p[0]; }, kRanks, 3, 0.02));
  ASSERT_TRUE(model);
  EXPECT_EQ(lead(model->formula, 0), (Shape{-1, 1, 0}));
  EXPECT_GE(predict(*model, Point{1e6}).expected, 0);
}

TEST(Fit, NeverPredictsLessThanNothing) {
  // Falling, but not by any power: no formula may go below 0 where it was not measured.
  for (uint64_t seed = 0; seed < 50; ++seed) {
    const auto model =
        fit(generated([](const Point& p) { return 80 - p[0]; }, kRanks, 2, 0.1, seed));
    ASSERT_TRUE(model);
    EXPECT_GE(predict(*model, Point{1e4}).expected, 0) << seed;
    EXPECT_GE(predict(*model, Point{1e4}).low, 0) << seed;
  }
}

TEST(Fit, SaysWhichParameterHasNoEffect) {
  const auto model = fit(generated([](const Point& p) { return 1 + 0.1 * p[0]; },
                                   grid({4, 8, 16, 32, 64}, {1, 2, 3, 4, 5}), 2, 0.03));
  ASSERT_TRUE(model);
  EXPECT_GT(model->effects[0], 0.99);
  EXPECT_LT(model->effects[1], 0.5);
  EXPECT_EQ(lead(model->formula, 1), Shape{});
  EXPECT_EQ(lead(model->formula, 0), (Shape{1, 1, 0}));
}

TEST(Fit, TellsSumsFromProducts) {
  const auto points = grid({4, 8, 16, 32, 64}, {10, 20, 30, 40, 50});
  const auto sum =
      fit(generated([](const Point& p) { return 5 + 0.5 * p[0] + 0.02 * p[1] * p[1]; }, points));
  ASSERT_EQ(sum->formula.terms.size(), 2u);
  EXPECT_EQ(sum->formula.terms[0].size(), 1u);
  EXPECT_EQ(sum->formula.terms[1].size(), 1u);
  EXPECT_NEAR(value(sum->formula, Point{256, 100}), 5 + 128 + 200, 1e-3);
  const auto product = fit(generated(
      [](const Point& p) { return 5 + 0.01 * p[0] * std::log2(p[0]) * p[1]; }, points, 3, 0.02));
  ASSERT_EQ(product->formula.terms.size(), 1u);
  EXPECT_EQ(product->formula.terms[0].size(), 2u);
  EXPECT_EQ(lead(product->formula, 0), (Shape{1, 1, 1}));
  EXPECT_EQ(lead(product->formula, 1), (Shape{1, 1, 0}));
}

TEST(Fit, FindsThreeParameters) {
  std::vector<Point> points;
  for (const double a : {2.0, 4.0, 8.0, 16.0, 32.0}) {
    for (const double b : {1.0, 2.0, 3.0, 4.0, 5.0}) {
      for (const double c : {10.0, 20.0, 40.0, 80.0, 160.0}) points.push_back({a, b, c});
    }
  }
  const auto model =
      fit(generated([](const Point& p) { return 1 + 0.2 * p[0] + 0.03 * p[1] * p[2]; }, points));
  ASSERT_TRUE(model);
  EXPECT_NEAR(value(model->formula, Point{64, 8, 320}), 1 + 12.8 + 0.03 * 8 * 320, 1e-3);
}

TEST(Fit, UsesNoLogarithmBelowOne) {
  const auto model =
      fit(generated([](const Point& p) { return 1 + p[0]; }, line({0.125, 0.25, 0.5, 1, 2, 4})));
  ASSERT_TRUE(model);
  for (const Hypothesis& each : model->hypotheses) {
    EXPECT_EQ(lead(each.formula, 0).logarithms, 0);
  }
}

TEST(Fit, RefusesFewPoints) {
  EXPECT_FALSE(fit(generated([](const Point& p) { return p[0]; }, line({1, 2, 3, 4}), 5)));
  EXPECT_FALSE(fit(generated([](const Point&) { return 0.0; }, kRanks)));
}

TEST(Fit, StandsZeros) {
  // No waiting with one rank, and noise that is no share of the value.
  const auto model = fit(
      generated([](const Point& p) { return 0.2 * (p[0] - 1); }, line({1, 2, 4, 8, 16}), 2, 0.01));
  ASSERT_TRUE(model);
  EXPECT_EQ(lead(model->formula, 0), (Shape{1, 1, 0}));
  EXPECT_NEAR(value(model->formula, Point{64}), 12.6, 0.7);
}

TEST(Fit, StandsWhatIsThereOnlyAtTheEnd) {
  // Nothing up to 16 ranks: whatever the formula, it says about what there was, and no wonders.
  std::vector<Sample> samples;
  for (const double ranks : {2.0, 4.0, 8.0, 16.0}) samples.push_back({{ranks}, {0, 0, 0}});
  samples.push_back({{32}, {1e-4, 2e-4, 4e-4}});
  const auto model = fit(samples);
  ASSERT_TRUE(model);
  EXPECT_NEAR(value(model->formula, Point{32}), 2.3e-4, 1e-4);
  EXPECT_LT(predict(*model, Point{128}).high, 1);
  EXPECT_LT(model->noise_share, 10);
}

TEST(Fit, RefusesWhatIsBelowNothing) {
  EXPECT_FALSE(fit(generated([](const Point& p) { return -p[0]; }, kRanks)));
  EXPECT_FALSE(fit(generated([](const Point& p) { return p[0] - 40; }, kRanks)));
}

/// Of generated sets with 5 % noise.
struct Outcome {
  int exact = 0, near = 0, covered = 0;
};

Outcome outcome(int sets, int repeats) {
  std::mt19937_64 random(42);
  std::uniform_int_distribution<size_t> any_shape(0, 41);
  std::uniform_real_distribution<double> part(0.5, 1);
  std::normal_distribution<double> share(0, 1);
  Outcome out;
  for (int i = 0; i < sets; ++i) {
    const Shape shape = shapes()[any_shape(random)];
    const double most = part(random), coefficient = most / value(shape, 64);
    const auto truth = [&](double p) { return 1 - most + coefficient * value(shape, p); };
    const auto model = fit(
        generated([&](const Point& p) { return truth(p[0]); }, kRanks, repeats, 0.05, random()));
    const Shape found = lead(model->formula, 0);
    out.exact += found == shape;
    out.near += std::abs(found.exponent() - shape.exponent()) <= 0.25;
    const double next = truth(kFar) * (1 + 0.05 * share(random));
    const Prediction predicted = predict(*model, Point{kFar});
    out.covered += predicted.low <= next && next <= predicted.high;
  }
  return out;
}

TEST(Fit, IsRightAsOftenAsItSays) {
  // 5 repeats: of 1000 sets, 385 were exact, 748 within a quarter and 952 covered.
  const Outcome five = outcome(300, 5);
  EXPECT_GE(five.exact, 90);
  EXPECT_GE(five.near, 200);
  EXPECT_GE(five.covered, 270);
  EXPECT_LE(five.covered, 298);         // wider than promised is wrong, too
  const Outcome one = outcome(300, 1);  // without repeats
  EXPECT_GE(one.covered, 270);
}

TEST(Fit, TellsNoiseThatIsNoShareOfTheValue) {
  std::mt19937_64 random(3);
  std::normal_distribution<double> noise(0, 0.1);
  std::vector<Sample> samples;
  for (const double p : {2.0, 4.0, 8.0, 16.0, 32.0, 64.0}) {
    Sample& sample = samples.emplace_back(Sample{{p}, {}});
    for (int i = 0; i < 6; ++i) sample.values.push_back(1 + p + noise(random));
  }
  const auto model = fit(samples);
  EXPECT_EQ(model->noise.power, 0);
  EXPECT_NEAR(model->noise_share * 65, 0.1, 0.03);
}

}  // namespace
}  // namespace culprit::predict
