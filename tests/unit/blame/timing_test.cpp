// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Series whose course is known by construction, and steady ones that must not be told to have any:
// the rates of false alarms are those of thousands of series from fixed seeds.
#include "blame/when/timing.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>
#include <vector>

namespace culprit::blame {
namespace {

using Series = std::vector<double>;
using Random = std::mt19937_64;

Series series(size_t n, const std::function<double(size_t)>& value) {
  Series values;
  for (size_t i = 0; i < n; ++i) values.push_back(std::max(0.0, value(i)));
  return values;
}

double normal(Random& random, double mean, double deviation) {
  return std::normal_distribution<double>(mean, deviation)(random);
}

TEST(Timing, FewStepsSayNothing) {
  EXPECT_EQ(find_timing({}).course, Course::steady);
  EXPECT_EQ(find_timing(Series(19, 1)).course, Course::steady);
  Series one(19, 0);
  one[3] = 1;
  EXPECT_EQ(find_timing(one).course, Course::steady);
  EXPECT_EQ(find_timing(Series(100, 0)).course, Course::steady);
}

TEST(Timing, FindsWhatHappensOnce) {
  Series costs(1000, 0.001);
  costs[600] = 10;
  const Timing found = find_timing(costs);
  EXPECT_EQ(found.course, Course::once);
  EXPECT_EQ(found.begin, 600u);
  EXPECT_EQ(found.end, 601u);
}

TEST(Timing, FindsAShortTimeOfManySteps) {
  Series costs(200, 0.01);
  for (size_t i = 50; i < 58; ++i) costs[i] = 3;
  const Timing found = find_timing(costs);
  EXPECT_EQ(found.course, Course::once);
  EXPECT_GE(found.begin, 50u);
  EXPECT_LE(found.end, 58u);
}

TEST(Timing, FindsWhatComesAgain) {
  Random random(1);
  for (const size_t period : {4, 5, 7, 10, 50, 100}) {
    const Timing found = find_timing(series(
        600, [&](size_t i) { return normal(random, 0.1, 0.03) + (i % period == 3 ? 50 : 0); }));
    EXPECT_EQ(found.course, Course::every) << period;
    EXPECT_EQ(found.period, period);
    EXPECT_EQ(found.begin, 3u) << period;
  }
}

TEST(Timing, FindsAStepUpAndDown) {
  Random random(2);
  for (const size_t at : {50, 100, 160}) {
    const Timing up =
        find_timing(series(200, [&](size_t i) { return normal(random, i >= at ? 3 : 1, 0.3); }));
    EXPECT_EQ(up.course, Course::from) << at;
    EXPECT_NEAR(static_cast<double>(up.begin), static_cast<double>(at), 2);
    const Timing down =
        find_timing(series(200, [&](size_t i) { return normal(random, i < at ? 3 : 1, 0.3); }));
    EXPECT_EQ(down.course, Course::until) << at;
    EXPECT_NEAR(static_cast<double>(down.end), static_cast<double>(at), 2);
  }
}

TEST(Timing, TellsGrowthFromAStep) {
  Random random(3);
  const auto grows = [&](size_t i) {
    return 2 * static_cast<double>(i) / 200 * normal(random, 1, 0.3);
  };
  EXPECT_EQ(find_timing(series(200, grows)).course, Course::growing);
  EXPECT_EQ(find_timing(series(200, [&](size_t i) { return grows(200 - i); })).course,
            Course::shrinking);
  EXPECT_NEAR(rise(series(100, [](size_t i) { return 5 + 0.002 * static_cast<double>(i); })), 0.002,
              1e-12);
}

/// Part of so many series of which a course is told, although they are steady.
double false_alarms(size_t count, size_t n, const std::function<double(size_t)>& value) {
  size_t alarms = 0;
  for (size_t i = 0; i < count; ++i) {
    alarms += find_timing(series(n, value)).course != Course::steady;
  }
  return static_cast<double>(alarms) / static_cast<double>(count);
}

TEST(Timing, HardlyEverRaisesAFalseAlarm) {
  constexpr size_t kSeries = 3000;
  Random random(7);
  std::exponential_distribution<double> exponential(1);
  std::lognormal_distribution<double> lognormal(0, 1);
  for (const size_t n : {64, 256}) {
    EXPECT_EQ(false_alarms(10, n, [](size_t) { return 1; }), 0);
    EXPECT_LE(false_alarms(kSeries, n, [&](size_t) { return normal(random, 1, 0.05); }), 0.003);
    EXPECT_LE(false_alarms(kSeries, n, [&](size_t) { return exponential(random); }), 0.003);
    EXPECT_LE(false_alarms(kSeries, n, [&](size_t) { return lognormal(random); }), 0.003);
    EXPECT_LE(false_alarms(kSeries, n, [&](size_t) { return normal(random, 0, 1); }), 0.003);
  }
}

// Neighbours are alike, as where a machine is slow for a while.
TEST(Timing, HardlyEverTakesMemoryForACourse) {
  constexpr size_t kSeries = 3000;
  Random random(8);
  for (const auto& [memory, most] : {std::pair(0.5, 0.01), {0.8, 0.025}, {0.9, 0.03}}) {
    for (const size_t n : {64, 256}) {
      double last = 0;
      const double alarms = false_alarms(kSeries, n, [&](size_t) {
        last = memory * last + normal(random, 0, std::sqrt(1 - memory * memory));
        return std::exp(0.5 * last);
      });
      EXPECT_LE(alarms, most) << "memory " << memory << " of " << n;
    }
  }
}

std::vector<uint32_t> places(size_t n, const std::function<size_t(size_t)>& place) {
  std::vector<uint32_t> list;
  for (size_t i = 0; i < n; ++i) list.push_back(static_cast<uint32_t>(place(i)));
  return list;
}

TEST(Movement, TellsWhatMovesFromWhatTakesTurns) {
  EXPECT_EQ(find_movement({}), Movement::stays);
  EXPECT_EQ(find_movement(places(60, [](size_t) { return 3; })), Movement::stays);
  EXPECT_EQ(find_movement(places(60, [](size_t i) { return i < 10 ? 1 : 0; })), Movement::stays);
  EXPECT_EQ(find_movement(places(60, [](size_t i) { return i / 30; })), Movement::moves);
  EXPECT_EQ(find_movement(places(64, [](size_t i) { return i / 4; })), Movement::moves);
  EXPECT_EQ(find_movement(places(60, [](size_t i) { return i % 2; })), Movement::turns);
}

TEST(Movement, SeldomTakesChanceForAnything) {
  Random random(3);
  size_t wrong = 0;
  constexpr size_t kSeries = 3000;
  for (size_t s = 0; s < kSeries; ++s) {
    std::uniform_int_distribution<size_t> four(0, 3);
    wrong += find_movement(places(64, [&](size_t) { return four(random); })) != Movement::random;
    std::bernoulli_distribution uneven(0.3);
    const Movement of_two = find_movement(places(64, [&](size_t) { return uneven(random); }));
    wrong += of_two != Movement::random && of_two != Movement::stays;
  }
  EXPECT_LE(wrong, 2 * kSeries / 200);
}

}  // namespace
}  // namespace culprit::blame
