// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Distributions whose kind is known by construction.
#include "blame/explain/distribution.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "blame/when/cost_series.h"

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

std::vector<StepCost> in_steps(uint32_t steps, uint32_t locations, auto cost) {
  std::vector<StepCost> costs;
  for (uint32_t s = 0; s < steps; ++s) {
    for (uint32_t l = 0; l < locations; ++l) {
      if (cost(s, l) > 0) costs.push_back({0, s, LocationId(l), cost(s, l)});
    }
  }
  return costs;
}

TEST(Sharers, AreThoseWhoDoAGoodPart) {
  using Loads = std::vector<double>;
  EXPECT_EQ(loads_of_sharers({3, 4, 0, 5}, {}), (Loads{3, 4, 0, 5})) << "one of four has none";
  EXPECT_EQ(loads_of_sharers({3, 4, 2, 5}, {0.01}), (Loads{3, 4, 2, 5})) << "a stray sample";
  EXPECT_EQ(loads_of_sharers({3, 4}, {2}), (Loads{3, 4, 2}));
  EXPECT_EQ(loads_of_sharers({0}, {3, 4, 0.1}), (Loads{3, 4})) << "a pool, and who made it";
}

TEST(SamePlace, IsAllWhereTheSameLocationsCostAllAlong) {
  const auto costs =
      in_steps(32, 8, [](uint32_t s, uint32_t l) { return l == 3 ? 1.0 + s % 2 : 0.0; });
  EXPECT_NEAR(same_place(costs), 1, 1e-12);
  EXPECT_EQ(same_place({}), 1);
}

TEST(SamePlace, IsAPartForEachThatHasATimeOfItsOwn) {
  const auto turn = [](uint32_t locations) {
    return in_steps(32, locations, [locations](uint32_t s, uint32_t l) {
      return s * locations / 32 == l ? 1.0 : 0.0;
    });
  };
  EXPECT_NEAR(same_place(turn(8)), 1.0 / 8, 1e-12);  // as cost_series.h says
  EXPECT_NEAR(same_place(turn(2)), 0.5, 1e-12);
}

Movement movement(uint32_t steps, uint32_t locations, auto cost) {
  std::vector<StepCost> costs = in_steps(steps, locations, cost);
  double all = 0;
  for (StepCost& one : costs) all += one.peers_s = one.cost_s;
  return movement_of(costs, all);
}

TEST(Movement, IsNoneOfNearTies) {
  EXPECT_EQ(movement(64, 3, [](uint32_t s, uint32_t l) { return 1 + 0.05 * ((s * s + l) % 3); }),
            Movement::stays);
  EXPECT_EQ(movement(64, 2, [](uint32_t s, uint32_t l) { return s % 2 == l ? 1.1 : 1.0; }),
            Movement::stays);
}

TEST(Movement, IsSeenWhereOneAtATimeCostsMost) {
  EXPECT_EQ(movement(64, 4, [](uint32_t s, uint32_t l) { return s / 16 == l ? 1.0 : 0.1; }),
            Movement::moves);
  EXPECT_EQ(movement(64, 2, [](uint32_t s, uint32_t l) { return s % 2 == l ? 1.0 : 0.1; }),
            Movement::turns);
}

}  // namespace
}  // namespace culprit::blame
