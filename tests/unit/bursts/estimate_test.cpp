// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Estimates that are small enough to compute by hand.
#include "blame/bursts/estimate.h"

#include <gtest/gtest.h>

#include <cmath>

namespace culprit::blame {
namespace {

constexpr double kNear = 1e-9;

/// A root, and two strata of 100 s and 60 s of which three windows saw 1 s, 2 s, 2 s and 1 s, 1 s,
/// 4 s.
Strata two_strata(double covered = 0) {
  return Strata({{kNoStratum, 0, {}}, {0, 100, {1, 2, 2}}, {0, 60, {1, 1, 4}}}, 3, covered);
}

TEST(Estimate, ScalesEachStratumByItsOwnTime) {
  const Strata strata = two_strata();
  EXPECT_NEAR(strata.factor(1), 20, kNear);
  EXPECT_NEAR(strata.factor(2), 10, kNear);
  const SeenCost seen[] = {{1, 0, 0.5}, {1, 1, 1}, {2, 2, 2}};
  const ScaledCost cost = scale_up(strata, seen);
  EXPECT_NEAR(cost.cost_s, 20 * 1.5 + 10 * 2, kNear);
  EXPECT_NEAR(cost.seen_s, 3.5, kNear);
  // Ratios 0.3 and 1/3: the first window has 0.2 more of the one than its share, 1/3 less of the
  // other.
  ASSERT_EQ(cost.residuals_s.size(), 3u);
  EXPECT_NEAR(cost.residuals_s[0], 20 * 0.2 - 10 / 3.0, kNear);
  EXPECT_NEAR(cost.residuals_s[1], 20 * 0.4 - 10 / 3.0, kNear);
  EXPECT_NEAR(cost.residuals_s[2], 20 * -0.6 + 10 * (2 - 4 / 3.0), kNear);
}

TEST(Estimate, ResidualsAddUpToNothing) {
  const Strata strata = two_strata();
  const SeenCost seen[] = {{1, 0, 0.7}, {1, 2, 0.1}, {2, 1, 0.9}, {2, 2, 1.3}};
  double sum = 0;
  for (double residual : scale_up(strata, seen).residuals_s) sum += residual;
  EXPECT_NEAR(sum, 0, kNear);
}

TEST(Estimate, OfPartsAddsUp) {
  const Strata strata = two_strata();
  const SeenCost first[] = {{1, 0, 0.7}, {2, 2, 0.1}}, second[] = {{1, 1, 0.5}};
  const SeenCost both[] = {{1, 0, 0.7}, {2, 2, 0.1}, {1, 1, 0.5}};
  ScaledCost sum = scale_up(strata, first);
  sum += scale_up(strata, second);
  const ScaledCost whole = scale_up(strata, both);
  EXPECT_NEAR(sum.cost_s, whole.cost_s, kNear);
  EXPECT_NEAR(sum.seen_s, whole.seen_s, kNear);
  for (size_t j = 0; j < 3; ++j) EXPECT_NEAR(sum.residuals_s[j], whole.residuals_s[j], kNear);
}

/// Parts that always make up the whole are as uncertain as each other.
TEST(Estimate, OfBalancedPartsAddsUpToTheWhole) {
  const Strata strata = two_strata();
  const SeenCost all[] = {{1, 0, 0.5}, {1, 1, 1}, {2, 2, 2}};
  const SeenCost first[] = {{2, 0, 0.2}, {2, 1, 1}}, second[] = {{1, 0, 0.3}, {1, 2, 2}};
  const ScaledCost whole = scale_up(strata, all), a = scale_up(strata, first),
                   b = scale_up(strata, second);
  ScaledCost sum = a;
  sum += b;
  ScaledCost both = balanced(a, sum, whole);
  both += balanced(b, sum, whole);
  EXPECT_NEAR(both.cost_s, whole.cost_s, kNear);
  EXPECT_NEAR(both.seen_s, whole.seen_s, kNear);
  for (size_t j = 0; j < 3; ++j) EXPECT_NEAR(both.residuals_s[j], whole.residuals_s[j], kNear);
}

TEST(Estimate, IsCertainWhereEachWindowHasItsShare) {
  const Strata strata = two_strata();
  const SeenCost seen[] = {{1, 0, 0.5}, {1, 1, 1}, {1, 2, 1}};
  const Interval bounds = interval(strata, scale_up(strata, seen));
  EXPECT_NEAR(bounds.low, 50, kNear);
  EXPECT_NEAR(bounds.high, 50, kNear);
  EXPECT_NEAR(bounds.degrees, 2, kNear);
}

/// Residuals 0.4, 0.8 and -1.2: their squares come to 2.24, half of their differences' to 2.08. Two
/// degrees of freedom, whose quantile is 4.302653.
TEST(Estimate, TakesTheLargerVariance) {
  const Strata strata({{kNoStratum, 100, {1, 2, 2}}}, 3, 0.1);
  const SeenCost seen[] = {{0, 0, 0.05}, {0, 1, 0.1}};
  const Interval bounds = interval(strata, scale_up(strata, seen));
  const double half = 4.302653 * std::sqrt(0.9 * 1.5 * 2.24);
  EXPECT_NEAR(bounds.high, 3 + half, 1e-5);
  EXPECT_NEAR(bounds.low, 0.15, kNear) << "no less than what was seen";
}

/// Four windows take turns: their differences say more than their spread.
TEST(Estimate, SeesThatNeighboursDiffer) {
  const Strata strata({{kNoStratum, 40, {1, 1, 1, 1}}}, 4, 0);
  const SeenCost turns[] = {{0, 0, 0.6}, {0, 1, 0.4}, {0, 2, 0.6}, {0, 3, 0.4}};
  const SeenCost drifts[] = {{0, 0, 0.4}, {0, 1, 0.4}, {0, 2, 0.6}, {0, 3, 0.6}};
  const auto half = [&](const auto& seen) {
    const Interval bounds = interval(strata, scale_up(strata, seen));
    return (bounds.high - bounds.low) / 2;
  };
  EXPECT_NEAR(half(drifts), 3.182446 * std::sqrt(4.0 / 3 * 4), 1e-4);
  EXPECT_NEAR(half(turns), 3.182446 * std::sqrt(4.0 / 3 * 6), 1e-4);
}

TEST(Estimate, HasFewDegreesOfFreedomIfOneWindowHasItAll) {
  const size_t n = 20;
  std::vector<double> even(n, 1);
  const Strata strata({{kNoStratum, 200, even}}, n, 0);
  const SeenCost seen[] = {{0, 7, 0.9}};
  EXPECT_NEAR(interval(strata, scale_up(strata, seen)).degrees, 1.1, 0.1);
}

TEST(Estimate, JoinsRareStrataWithTheirParents) {
  // The root is seen through its children alone: one that a window saw, and two that two did.
  const Strata strata(
      {{kNoStratum, 0, {}}, {0, 10, {1, 0, 0}}, {0, 30, {1, 2, 0}}, {1, 5, {0, 1, 0}}}, 3, 0);
  EXPECT_EQ(strata.group(2), 2u);
  EXPECT_EQ(strata.group(3), 1u);
  EXPECT_EQ(strata.group(1), 1u) << "with its child, two windows saw it";
  EXPECT_NEAR(strata.factor(3), 7.5, kNear);
  EXPECT_NEAR(strata.all_unseen_s(), 0, kNear);
}

TEST(Estimate, JoinsThroughSeveralGenerations) {
  const Strata strata({{kNoStratum, 0, {}}, {0, 0, {}}, {1, 8, {1, 0}}, {0, 12, {0, 1}}}, 2, 0);
  EXPECT_EQ(strata.group(2), 0u);
  EXPECT_EQ(strata.group(3), 0u);
  EXPECT_NEAR(strata.factor(2), 10, kNear);
}

TEST(Estimate, SaysHowMuchNoWindowSaw) {
  const Strata strata({{kNoStratum, 0, {}}, {0, 40, {1, 1}}, {0, 10, {}}}, 2, 0);
  EXPECT_NEAR(strata.all_unseen_s(), 10, kNear);
  const SeenCost seen[] = {{1, 0, 0.5}, {1, 1, 0.5}};
  const Interval bounds = interval(strata, scale_up(strata, seen));
  EXPECT_NEAR(bounds.low, 20, kNear);
  EXPECT_NEAR(bounds.high, 30, kNear) << "all that no window saw may be of this cause";
}

TEST(Estimate, OfOneWindowHasNoSpread) {
  const Strata strata({{kNoStratum, 40, {2}}}, 1, 0.05);
  const SeenCost seen[] = {{0, 0, 0.5}};
  const ScaledCost cost = scale_up(strata, seen);
  EXPECT_NEAR(cost.cost_s, 10, kNear);
  const Interval bounds = interval(strata, cost);
  EXPECT_NEAR(bounds.low, 0.5, kNear);
  EXPECT_NEAR(bounds.high, 38.5, kNear) << "all but what is known not to be";
  EXPECT_EQ(bounds.degrees, 0);
}

TEST(Estimate, OfAllThereIsIsExact) {
  const Strata strata({{kNoStratum, 4, {1, 3}}}, 2, 1);
  const SeenCost seen[] = {{0, 0, 0.1}, {0, 1, 2.5}};
  const Interval bounds = interval(strata, scale_up(strata, seen));
  EXPECT_NEAR(bounds.low, 2.6, kNear);
  EXPECT_NEAR(bounds.high, 2.6, kNear);
}

/// The profile and the windows measure time in their own ways: windows may have seen more.
TEST(Estimate, NeverStandsForLessThanItself) {
  const Strata strata({{kNoStratum, 3, {2, 2}}}, 2, 1);
  EXPECT_NEAR(strata.factor(0), 1, kNear);
}

TEST(Estimate, OfAShareIsSurerThanThatOfACost) {
  // The waiting varies, and a half of it always has the same cause.
  const Strata strata({{kNoStratum, 100, {1, 1, 1}}}, 3, 0);
  const SeenCost waiting[] = {{0, 0, 0.2}, {0, 1, 0.6}, {0, 2, 0.4}};
  const SeenCost caused[] = {{0, 0, 0.1}, {0, 1, 0.3}, {0, 2, 0.2}};
  const ScaledCost whole = scale_up(strata, waiting), part = scale_up(strata, caused);
  const Interval share = interval_of_share(strata, part, 0, whole, 0);
  EXPECT_NEAR(share.low, 0.5, kNear);
  EXPECT_NEAR(share.high, 0.5, kNear);
  EXPECT_GT(interval(strata, part).high, 25);
  // 40 s of known waiting with another cause: 20 of 80.
  const Interval diluted = interval_of_share(strata, part, 0, whole, 40);
  EXPECT_LT(diluted.low, 0.25);
  EXPECT_GT(diluted.high, 0.25);
}

}  // namespace
}  // namespace culprit::blame
