// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Distributions whose kind is known by construction.
#include "blame/distribution.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace culprit::blame {
namespace {

std::vector<double> loads(std::initializer_list<std::pair<size_t, double>> groups) {
  std::vector<double> list;
  for (const auto& [count, load] : groups) list.insert(list.end(), count, load);
  return list;
}

TEST(Groups, OneHasNobodyToShareWith) {
  EXPECT_EQ(find_groups({}).shape, Shape::single);
  EXPECT_EQ(find_groups({3}).shape, Shape::single);
}

TEST(Groups, EvenUpToTheThreshold) {
  EXPECT_EQ(find_groups({0, 0, 0}).shape, Shape::even);
  EXPECT_EQ(find_groups({100, 95, 97, 100}).shape, Shape::even);
  EXPECT_NE(find_groups({100, 94, 100, 94}).shape, Shape::even);
}

TEST(Groups, MinoritiesAreFoundWhicheverSide) {
  const Groups high = find_groups(loads({{60, 10.0}, {4, 20.0}}));
  EXPECT_EQ(high.shape, Shape::overloaded_minority);
  EXPECT_EQ(high.high, 4u);
  EXPECT_EQ(high.low, 60u);
  const Groups low = find_groups(loads({{4, 5.0}, {60, 10.0}}));
  EXPECT_EQ(low.shape, Shape::underloaded_minority);
  EXPECT_EQ(low.low, 4u);
  EXPECT_EQ(find_groups({1, 2}).shape, Shape::overloaded_minority);
  EXPECT_EQ(find_groups({10, 10, 1}).shape, Shape::underloaded_minority);
}

TEST(Groups, ExactlyAThirdIsAMinority) {
  EXPECT_EQ(find_groups(loads({{6, 10.0}, {3, 20.0}})).shape, Shape::overloaded_minority);
  EXPECT_EQ(find_groups(loads({{5, 10.0}, {3, 20.0}})).shape, Shape::clusters);
}

TEST(Groups, TwoHalvesAndThreeGroupsAreClusters) {
  EXPECT_EQ(find_groups(loads({{8, 10.0}, {8, 20.0}})).shape, Shape::clusters);
  const Groups three = find_groups(loads({{5, 10.0}, {6, 20.0}, {7, 30.0}}));
  EXPECT_EQ(three.shape, Shape::clusters);
  EXPECT_EQ(three.high, 7u);
  EXPECT_EQ(three.low, 5u);
}

TEST(Groups, EvenlySpacedAndNormalLoadsAreSpread) {
  for (size_t n : {3, 4, 5, 6, 7, 8, 9, 16, 100, 1000}) {
    std::vector<double> list;
    for (size_t i = 0; i < n; ++i) list.push_back(10.0 + static_cast<double>(i));
    EXPECT_EQ(find_groups(list).shape, Shape::spread) << n;
  }
  std::mt19937 random(1);
  std::normal_distribution<double> normal(100, 20);
  std::vector<double> list;
  for (size_t i = 0; i < 500; ++i) list.push_back(normal(random));
  EXPECT_EQ(find_groups(list).shape, Shape::spread);
}

TEST(Groups, DoNotDependOnOrderUnitOrOffset) {
  std::vector<double> list = loads({{20, 1.0}, {3, 2.0}});
  std::shuffle(list.begin(), list.end(), std::mt19937(7));
  EXPECT_EQ(find_groups(list).shape, Shape::overloaded_minority);
  for (double& load : list) load *= 1e-9;
  EXPECT_EQ(find_groups(list).shape, Shape::overloaded_minority);
  for (double& load : list) load = load * 1e9 + 10;  // 11 and 12
  EXPECT_EQ(find_groups(list).shape, Shape::overloaded_minority);
}

std::vector<SliceCost> in_slices(size_t slices, size_t locations, auto cost) {
  std::vector<SliceCost> costs;
  for (size_t s = 0; s < slices; ++s) {
    for (size_t l = 0; l < locations; ++l) {
      if (cost(s, l) > 0) costs.push_back({s, LocationId(l), cost(s, l)});
    }
  }
  return costs;
}

TEST(Course, OneSliceIsABurst) {
  EXPECT_EQ(find_course(in_slices(1, 4, [](size_t, size_t) { return 1.0; })).course, Course::burst);
  const auto nearly = in_slices(10, 1, [](size_t s, size_t) { return s == 3 ? 9.0 : 0.1; });
  EXPECT_EQ(find_course(nearly).course, Course::burst);
  EXPECT_EQ(find_course({}).course, Course::burst);
}

TEST(Course, TheSameLocationsAllAlongAreSteady) {
  const auto costs = in_slices(kSlices, 8, [](size_t s, size_t l) {
    return l == 3 ? 1.0 + static_cast<double>(s % 2) : 0.0;
  });
  EXPECT_EQ(find_course(costs).course, Course::steady);
  EXPECT_NEAR(find_course(costs).same_place, 1, 1e-12);
}

TEST(Course, ATurnForEachLocationMoves) {
  const auto costs =
      in_slices(kSlices, 8, [](size_t s, size_t l) { return s * 8 / kSlices == l ? 1.0 : 0.0; });
  const Constancy found = find_course(costs);
  EXPECT_EQ(found.course, Course::moving);
  EXPECT_NEAR(found.same_place, 1.0 / 8, 1e-12);  // as distribution.h says
}

TEST(Course, HalfOfTheTimeEachIsJustSteady) {
  const auto costs =
      in_slices(kSlices, 2, [](size_t s, size_t l) { return s * 2 / kSlices == l ? 1.0 : 0.0; });
  EXPECT_NEAR(find_course(costs).same_place, 0.5, 1e-12);
}

}  // namespace
}  // namespace culprit::blame
