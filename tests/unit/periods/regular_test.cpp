// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The chance that is told is no smaller than how often distances at random really look as regular.
#include "predict/periods/regular.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace culprit::predict {
namespace {

TEST(Regular, ChanceIsAnUpperBoundOfTheErrorRate) {
  std::mt19937 dice(7);
  std::exponential_distribution<double> gap(1);
  constexpr unsigned kTries = 20'000;
  for (const size_t count : {3u, 4u, 6u, 12u, 30u}) {
    for (const double dead : {0.0, 1.0}) {
      unsigned below[2] = {};
      const double levels[2] = {0.1, 0.02};
      for (unsigned i = 0; i < kTries; ++i) {
        std::vector<double> distances(count);
        for (double& distance : distances) distance = dead + gap(dice);
        const double chance = regularity_of(distances, dead).chance;
        for (size_t level = 0; level < 2; ++level) below[level] += chance < levels[level];
      }
      for (size_t level = 0; level < 2; ++level) {
        EXPECT_LE(below[level] / double{kTries}, 1.3 * levels[level])
            << count << " distances, dead time " << dead << ", level " << levels[level];
      }
    }
  }
}

TEST(Regular, EqualDistancesAreNoChance) {
  for (const size_t count : {3u, 10u, 1000u}) {
    const Regularity regularity = regularity_of(std::vector<double>(count, 2.5), 0.1);
    EXPECT_LT(regularity.chance, 1e-9);
    EXPECT_DOUBLE_EQ(regularity.period, 2.5);
    EXPECT_EQ(regularity.deviation, 0);
    EXPECT_TRUE(regularity.enough());
  }
  EXPECT_EQ(regularity_of(std::vector<double>{1, 1}, 0).chance, 1);
  EXPECT_EQ(regularity_of({}, 0).chance, 1);
}

TEST(Regular, DistancesOfSeveralPeriodsCountAsSuch) {
  const std::vector<double> distances = {1, 1, 2, 1, 3, 1, 1, 7.4, 1, 1, 1, 1};
  const Regularity regularity = regularity_of(distances, 0);
  EXPECT_NEAR(regularity.period, 1, 1e-12);
  EXPECT_EQ(regularity.alike, 9u);
  EXPECT_EQ(regularity.multiples, 2u);
  EXPECT_EQ(regularity.missed, 3u);
  EXPECT_EQ(regularity.interruptions, 1u);
  EXPECT_TRUE(regularity.enough());
}

TEST(Regular, ChangesAreFoundWhereTheyAre) {
  std::vector<double> distances(10, 1.0);
  distances.resize(20, 1.3);
  EXPECT_EQ(change_in(distances), 10u);
  EXPECT_EQ(change_in(std::vector<double>(20, 1.0)), 0u);
  EXPECT_EQ(change_in(std::vector<double>{1, 1, 1, 2, 2, 2}), 0u) << "too few on each side";
}

}  // namespace
}  // namespace culprit::predict
