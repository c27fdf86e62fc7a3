// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Periods that are there are found within 2 %, and none is found where there is none. The tables of
// docs/evidence/predictions.md are what KnownPeriods and FalsePeriods print.
#include "predict/periods/period.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <functional>

#include "generated.h"

namespace culprit::predict {
namespace {

using blame::Periodicity;

constexpr double kWithin = 0.02;
constexpr unsigned kSeeds = 20;

struct Tally {
  unsigned found = 0, close = 0, changed = 0;
  double worst = 0, confidence = 0;
};

/// `expected`: of the last stretch.
Tally tally(const std::function<Series(unsigned)>& make, double expected) {
  Tally all;
  for (unsigned seed = 1; seed <= kSeeds; ++seed) {
    const Period period = find_period(make(seed));
    if (!period.found()) continue;
    const double off = std::abs(period.last().period / expected - 1);
    ++all.found;
    all.close += off <= kWithin;
    all.changed += period.verdict == Periodicity::changing;
    all.worst = std::max(all.worst, off);
    all.confidence += period.confidence / kSeeds;
  }
  return all;
}

struct Case {
  const char* name;
  Pulses how;
  unsigned least;  ///< of kSeeds are found, and all of these are close
};

TEST(Period, KnownPeriods) {
  const Case cases[] = {
      {"0.1 s", {.period = 0.1}, 20},
      {"60 s", {.period = 60}, 20},
      {"phases of 2 %, jitter 5 %", {.duty = 0.02, .jitter = 0.05}, 20},
      {"phases of 5 %, jitter 10 %", {.duty = 0.05, .jitter = 0.1}, 19},
      {"phases of 50 %, jitter 10 %", {.duty = 0.5, .jitter = 0.1}, 20},
      {"phases of 80 %, jitter 5 %", {.duty = 0.8, .jitter = 0.05}, 19},
      {"phases of 1 %, 1000 values in a period",
       {.duty = 0.01, .jitter = 0.02, .samples = 1000},
       20},
      {"5 values in a period", {.jitter = 0.02, .phases = 40, .samples = 5}, 20},
      {"10 values in a period (a profile)", {.jitter = 0.02, .samples = 10}, 20},
      {"4 phases", {.phases = 4}, 20},
      {"6 phases, jitter 2 %", {.jitter = 0.02, .phases = 6}, 20},
      {"noise 0.1", {.duty = 0.05, .jitter = 0.02, .noise = 0.1}, 20},
      {"noise 0.3", {.jitter = 0.02, .noise = 0.3}, 20},
      {"noise 1, phases of 50 %", {.duty = 0.5, .jitter = 0.02, .noise = 1}, 19},
      {"a fifth of the phases missing", {.jitter = 0.05, .missing = 0.2, .phases = 25}, 19},
      {"start-up of 2 %, 20 times as high", {.jitter = 0.05, .start_up = 0.02}, 20},
      {"the same with noise 0.1", {.jitter = 0.05, .noise = 0.1, .start_up = 0.02}, 19},
      {"5.3 periods without phases", {.jitter = 0.05, .interruption = 5.3}, 19},
      {"a trend of twice the height, noise 0.05", {.jitter = 0.05, .noise = 0.05, .trend = 2}, 20},
  };
  for (const Case& each : cases) {
    const Tally all = tally([&](unsigned seed) { return pulses(each.how, seed); }, each.how.period);
    std::printf("| %s | %u of %u | %.1f %% | %.0f %% |\n", each.name, all.found, kSeeds,
                100 * all.worst, 100 * all.confidence * kSeeds / std::max(all.found, 1u));
    EXPECT_GE(all.found, each.least) << each.name;
    EXPECT_EQ(all.close, all.found) << each.name << ": off by " << all.worst;
    EXPECT_EQ(all.changed, 0u) << each.name;
  }
}

TEST(Period, Sines) {
  for (const double noise : {0.0, 0.5, 1.0, 2.0}) {
    const size_t periods = noise > 0 ? 20 : 4;
    const Tally all = tally([&](unsigned seed) { return sine(3, periods, noise, seed); }, 3);
    std::printf("| sine, noise %.1f, %zu periods | %u of %u | %.1f %% | %.0f %% |\n", noise,
                periods, all.found, kSeeds, 100 * all.worst, 100 * all.confidence);
    EXPECT_EQ(all.close, kSeeds) << noise << ": off by " << all.worst;
  }
}

/// If each phase drifts from the one before, the period is their own mean distance.
TEST(Period, DriftingPhasesAreJudgedByTheirMeanDistance) {
  for (unsigned seed = 1; seed <= kSeeds; ++seed) {
    double mean = 0;
    const Period period =
        find_period(pulses({.jitter = 0.05, .drifts = true, .phases = 15}, seed, &mean));
    ASSERT_TRUE(period.found()) << seed;
    EXPECT_NEAR(period.last().period / mean, 1, kWithin) << seed;
  }
}

TEST(Period, FalsePeriods) {
  unsigned all = 0, wrong = 0;
  for (const Aperiodic kind : kAperiodic) {
    unsigned here = 0;
    for (unsigned seed = 1; seed <= 40; ++seed, ++all) {
      const Period period = find_period(aperiodic(kind, 1000 * static_cast<unsigned>(kind) + seed));
      here += period.found();
      EXPECT_EQ(period.stretches.empty(), !period.found());
    }
    EXPECT_LE(here, 4u) << "kind " << static_cast<int>(kind);
    wrong += here;
  }
  std::printf("%u of %u series without a period have one\n", wrong, all);
  EXPECT_LE(wrong, all * 2 / 100);
}

TEST(Period, SaysWhyThereIsNone) {
  EXPECT_EQ(find_period(aperiodic(Aperiodic::poisson, 1)).verdict, Periodicity::aperiodic);
  EXPECT_EQ(find_period(aperiodic(Aperiodic::white_noise, 1)).verdict, Periodicity::aperiodic);
  EXPECT_EQ(find_period(aperiodic(Aperiodic::one_burst, 1)).verdict, Periodicity::too_few);
  EXPECT_EQ(find_period(aperiodic(Aperiodic::two_bursts, 1)).verdict, Periodicity::too_few);
  EXPECT_EQ(find_period(pulses({.phases = 3}, 1)).verdict, Periodicity::too_few);
  Series flat;
  flat.values.assign(1000, 7);
  EXPECT_EQ(find_period(flat).verdict, Periodicity::steady);
  flat.values.assign(1000, 0);
  EXPECT_EQ(find_period(flat).verdict, Periodicity::steady);
  for (size_t i = 0; i < flat.values.size(); ++i) flat.values[i] = 100 + (i / 10 % 2 ? 1 : -1);
  EXPECT_EQ(find_period(flat).verdict, Periodicity::steady) << "a ripple of one percent";
  for (size_t i = 0; i < flat.values.size(); ++i) {
    flat.values[i] = 100 + 5 * std::sin(0.1 * static_cast<double>(i));
  }
  EXPECT_EQ(find_period(flat).verdict, Periodicity::periodic) << "little, but regularly";
  flat.values.resize(kLeastSamples - 1);
  EXPECT_EQ(find_period(flat).verdict, Periodicity::too_few);
  flat.values.clear();
  EXPECT_EQ(find_period(flat).verdict, Periodicity::too_few);
}

TEST(Period, ChangesAreTold) {
  for (const double change : {0.5, 1.5, 2.0}) {
    for (unsigned seed = 1; seed <= kSeeds; ++seed) {
      const Period period =
          find_period(pulses({.jitter = 0.03, .phases = 24, .change = change}, seed));
      ASSERT_EQ(period.verdict, Periodicity::changing) << change << " " << seed;
      ASSERT_EQ(period.stretches.size(), 2u) << change << " " << seed;
      EXPECT_NEAR(period.stretches[0].regularity.period, 1, kWithin) << change << " " << seed;
      EXPECT_NEAR(period.stretches[1].regularity.period / change, 1, kWithin) << seed;
      EXPECT_NEAR(period.stretches[1].begin_s, 12.5, 1.6) << change << " " << seed;
    }
  }
}

TEST(Period, MissingPhasesAndInterruptionsAreCounted) {
  Series series = pulses({.phases = 20}, 1);
  const auto silent = [&](double from, double to) {
    for (auto i = static_cast<size_t>(100 * from); i < static_cast<size_t>(100 * to); ++i) {
      series.values[i] = 0;
    }
  };
  silent(5, 6);  // one phase
  Period period = find_period(series);
  ASSERT_TRUE(period.found());
  EXPECT_EQ(period.last().missed, 1u);
  EXPECT_EQ(period.last().interruptions, 0u);
  silent(10, 14);
  period = find_period(series);
  ASSERT_TRUE(period.found());
  EXPECT_EQ(period.last().missed, 1u);
  EXPECT_EQ(period.last().interruptions, 1u);
  EXPECT_NEAR(period.last().period, 1, 1e-9);
}

/// Six values in a period are too few to be smoothed; figures are figures all the same.
TEST(Period, ShortPeriodsHaveAConfidence) {
  Series series;
  for (size_t i = 0; i < 600; ++i) series.values.push_back(i % 6 == 2);
  const Period period = find_period(series);
  ASSERT_TRUE(period.found());
  EXPECT_NEAR(period.last().period, 6, 1e-9);
  EXPECT_NEAR(period.confidence, 1, 0.01);
  for (size_t i = 0; i < series.values.size(); ++i) series.values[i] = i % 3 == 2;
  EXPECT_FALSE(find_period(series).found()) << "three values do not show a period";
}

/// Each phase is many short calls, on ranks that are not quite at the same time.
TEST(Period, CallsInsideOfPhasesAreNotThePeriod) {
  Series series;
  series.step_s = 0.001;
  series.values.resize(10'000);
  for (size_t phase = 0; phase < 12; ++phase) {
    for (size_t call = 0; call < 10; ++call) {
      for (size_t rank = 0; rank < 4; ++rank) {
        series.values[300 + 750 * phase + 9 * call + 2 * rank] += 1;
      }
    }
  }
  const Period period = find_period(series);
  ASSERT_TRUE(period.found());
  EXPECT_NEAR(period.last().period, 0.75, 0.001);
  EXPECT_EQ(period.phases.size(), 12u);
  EXPECT_NEAR(period.phase_s, 0.088, 0.002);
}

/// Four ranks write one after the other, unevenly: the whole repeats with the ranks' period.
TEST(Period, RanksOutOfPhaseRepeatTogether) {
  Series series;
  series.step_s = 0.01;
  series.values.resize(4000);
  for (size_t turn = 0; turn < 18; ++turn) {
    for (const size_t offset : {0u, 30u, 45u, 70u}) {
      for (size_t i = 0; i < 5; ++i) series.values[100 + 200 * turn + offset + i] += 1;
    }
  }
  const Period period = find_period(series);
  ASSERT_TRUE(period.found());
  EXPECT_NEAR(period.last().period, 2, 0.01);
}

TEST(Period, TheNextPhaseIsPredicted) {
  unsigned inside = 0, all = 0;
  for (unsigned seed = 1; seed <= 60; ++seed) {
    const Series whole = pulses({.jitter = 0.05, .drifts = true, .phases = 16}, seed);
    Series seen = whole;
    seen.values.resize(whole.values.size() - 150);  // without the last
    const Period period = find_period(seen), later = find_period(whole);
    if (!period.found() || !later.found()) continue;
    const Next next = predict_next(seen, period, period.stretches.back().end_s);
    for (const PhaseTime& phase : later.phases) {
      if (phase.begin_s < period.stretches.back().end_s + 0.2) continue;
      ++all;
      inside += phase.begin_s > next.early_s && phase.begin_s < next.late_s;
      EXPECT_NEAR(phase.begin_s, next.begin_s, 0.3) << seed;
      break;
    }
  }
  ASSERT_GE(all, 50u);
  EXPECT_GE(inside, all * 8 / 10) << "of " << all << ", where 90 % are promised";
  EXPECT_LT(inside, all) << "of " << all << ": the interval is too wide to mean anything";
}

TEST(Period, WhatIsPredictedLiesAhead) {
  const Series series = pulses({.jitter = 0.02}, 1);
  const Period period = find_period(series);
  ASSERT_TRUE(period.found());
  const double last = period.stretches.back().end_s;
  const Next soon = predict_next(series, period, last),
             later = predict_next(series, period, last + 3.5);
  EXPECT_NEAR(soon.begin_s, last + 1, 0.02);
  EXPECT_NEAR(later.begin_s, last + 4, 0.05);
  EXPECT_GT(later.late_s - later.early_s, soon.late_s - soon.early_s);
}

}  // namespace
}  // namespace culprit::predict
