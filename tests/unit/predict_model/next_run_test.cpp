// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "predict/model/next_run.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/unit/predict_model/generated.h"

namespace culprit::predict {
namespace {

const std::vector<Point> kRanks = line({2, 4, 8, 16, 32});
const Point kTarget = {256};

Model model_of(double noise, uint64_t seed = 7) {
  return *fit(generated([](const Point& p) { return 1 + 0.2 * p[0]; }, kRanks, 2, noise, seed));
}

TEST(NextRun, ConsidersRepeatsStepsAndWhatLiesBetween) {
  const auto points = points_to_consider(model_of(0.05), kTarget);
  for (const double wanted : {2.0, 32.0, 3.0, 6.0, 64.0, 128.0, 256.0}) {
    EXPECT_NE(std::find(points.begin(), points.end(), Point{wanted}), points.end()) << wanted;
  }
  for (const Point& point : points) {
    EXPECT_LE(point[0], 256);
    EXPECT_EQ(point[0], std::floor(point[0]));
  }
}

TEST(NextRun, GainsMoreCloserToTheTarget) {
  const Model model = model_of(0.05);
  double before = 0;
  for (const double ranks : {32.0, 64.0, 128.0, 256.0}) {
    const Gain gain = gain_of_run(model, Point{ranks}, kTarget);
    EXPECT_GT(gain.removed, before) << ranks;
    EXPECT_LE(gain.removed, gain.variance * (1 + 1e-9));
    before = gain.removed;
  }
}

TEST(NextRun, IsOrderedByGainForItsCost) {
  const Model model = model_of(0.05);
  const Model* models[] = {&model};
  Machine machine;
  machine.ranks_at = 0;
  const auto runs = next_runs(models, model, machine, kTarget);
  ASSERT_GE(runs.size(), 2u);
  for (size_t i = 1; i < runs.size(); ++i) {
    EXPECT_GE(runs[i - 1].gain / runs[i - 1].cost_s, runs[i].gain / runs[i].cost_s);
  }
  // What a run of p ranks costs: its length by the formula, on p cores.
  for (const NextRun& run : runs) {
    EXPECT_NEAR(run.cost_s, value(model.formula, run.point) * run.point[0], 1e-9);
  }
}

/// The gain that is promised is what really comes of it, on average: the error of predictions with
/// one more run at 128 ranks, and without.
TEST(NextRun, KeepsItsPromise) {
  std::mt19937_64 random(11);
  std::normal_distribution<double> share(0, 1);
  const auto truth = [](double p) { return 1 + 0.2 * p; };
  double promised = 0, before = 0, after = 0;
  for (uint64_t seed = 0; seed < 100; ++seed) {
    auto samples = generated([&](const Point& p) { return truth(p[0]); }, kRanks, 2, 0.05, seed);
    const auto error = [&](const Model& model) {
      double mean = 0;
      for (const Hypothesis& each : model.hypotheses) {
        mean += each.weight * value(each.formula, kTarget);
      }
      return (mean - truth(256)) * (mean - truth(256));
    };
    const Model model = *fit(samples);
    const Gain gain = gain_of_run(model, Point{128}, kTarget);
    promised += gain.removed / gain.variance / 100;
    before += error(model);
    samples.push_back({{128}, {truth(128) * (1 + 0.05 * share(random))}});
    after += error(*fit(samples));
  }
  EXPECT_GT(promised, 0.5);
  EXPECT_LT(after, before / 2);
}

}  // namespace
}  // namespace culprit::predict
