// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Samples have the moments that their distribution promises, the same on every machine, and what
// people write is read as they mean it or refused with a sentence.
#include "predict/machine/distribution.h"

#include <gtest/gtest.h>

#include <cmath>

namespace culprit::predict {
namespace {

struct Moments {
  double mean = 0, deviation = 0;
};

Moments sampled(const Distribution& distribution, size_t count = 200'000) {
  Rng rng(7);
  double sum = 0, squares = 0;
  for (size_t i = 0; i < count; ++i) {
    const auto ns = static_cast<double>(distribution.sample(rng).nanos());
    sum += ns;
    squares += ns * ns;
  }
  const double mean = sum / static_cast<double>(count);
  return {mean, std::sqrt(squares / static_cast<double>(count) - mean * mean)};
}

TEST(Rng, IsXoshiro256PlusPlus) {
  // The reference implementations of splitmix64 and xoshiro256++, seeded with 0 and stream 0,
  // which splitmix64 turns into 0xe220a8397b1dcdaf.
  Rng rng(0xe220a8397b1dcdafu);  // so that the state is that of seed 0
  EXPECT_EQ(rng.next(), 0x53175d61490b23dfu);
  EXPECT_EQ(rng.next(), 0x61da6f3dc380d507u);
  EXPECT_EQ(rng.next(), 0x5c0fdf91ec9a7bfcu);
}

TEST(Rng, StreamsDiffer) {
  Rng a(1, 0), b(1, 1), again(1, 0);
  const uint64_t first = a.next();
  EXPECT_NE(first, b.next());
  EXPECT_EQ(first, again.next());
}

TEST(Distribution, HasTheMomentsOfItsFormula) {
  const auto constant = sampled(Distribution(Constant{10'000}));
  EXPECT_EQ(constant.mean, 10'000);
  EXPECT_EQ(constant.deviation, 0);
  const auto uniform = sampled(Distribution(Uniform{1'000, 5'000}));
  EXPECT_NEAR(uniform.mean, 3'000, 15);
  EXPECT_NEAR(uniform.deviation, 4'000 / std::sqrt(12), 15);
  const auto normal = sampled(Distribution(Normal{50'000, 5'000}));
  EXPECT_NEAR(normal.mean, 50'000, 60);
  EXPECT_NEAR(normal.deviation, 5'000, 60);
  const auto exponential = sampled(Distribution(Exponential{20'000}));
  EXPECT_NEAR(exponential.mean, 20'000, 250);
  EXPECT_NEAR(exponential.deviation, 20'000, 400);
}

TEST(Distribution, KnowsTheMeanOfWhatIsCutAtZero) {
  for (const double mean : {-5'000.0, 0.0, 5'000.0}) {
    const Distribution cut(Normal{mean, 5'000});
    EXPECT_NEAR(sampled(cut).mean, cut.mean_ns(), 40) << mean;
  }
  EXPECT_NEAR(Distribution(Normal{0, 5'000}).mean_ns(), 5'000 / std::sqrt(2 * M_PI), 0.01);
}

TEST(Distribution, HasTheQuantilesOfItsFormula) {
  EXPECT_NEAR(Distribution(Exponential{1'000}).quantile_ns(0.5), 1'000 * std::log(2), 1e-6);
  EXPECT_NEAR(Distribution(Normal{1'000, 100}).quantile_ns(0.975), 1'196, 0.1);
  EXPECT_NEAR(Distribution(Uniform{100, 200}).quantile_ns(0.25), 125, 1e-9);
  EXPECT_EQ(Distribution(Normal{-1'000, 100}).quantile_ns(0.5), 0);
}

TEST(Distribution, KeepsFewSamplesAsTheyAre) {
  const Distribution few = Distribution::of({30, 10, 20, 20});
  EXPECT_EQ(std::get<Empirical>(few.shape()), (Empirical{{10, 20, 30}, {1, 2, 1}}));
  EXPECT_EQ(few.samples(), 4u);
  EXPECT_EQ(few.mean_ns(), 20);
  EXPECT_EQ(few.quantile_ns(0), 10);
  EXPECT_EQ(few.quantile_ns(0.25), 10);
  EXPECT_EQ(few.quantile_ns(0.5), 20);
  EXPECT_EQ(few.quantile_ns(0.75), 20);
  EXPECT_EQ(few.quantile_ns(1), 30);
  EXPECT_EQ(Distribution::of({}), Distribution());
}

TEST(Distribution, SamplesWhatWasMeasuredAsOftenAsItWas) {
  const Distribution measured = Distribution::of({100, 100, 100, 1'000});
  Rng rng(3);
  int large = 0;
  for (int i = 0; i < 100'000; ++i) {
    const int64_t ns = measured.sample(rng).nanos();
    ASSERT_TRUE(ns == 100 || ns == 1'000) << ns;
    large += ns == 1'000 ? 1 : 0;
  }
  EXPECT_NEAR(large, 25'000, 500);
}

TEST(Distribution, KeepsTheMeanAndTheLargestOfMany) {
  Rng rng(5);
  std::vector<double> samples;
  double sum = 0;
  for (int i = 0; i < 50'000; ++i) {
    samples.push_back(i == 77 ? 4e6 : 1'000 * rng.exponential());
    sum += samples.back();
  }
  const Distribution many = Distribution::of(samples);
  EXPECT_LE(std::get<Empirical>(many.shape()).values_ns.size(), 256u);
  EXPECT_EQ(many.samples(), 50'000u);
  EXPECT_NEAR(many.mean_ns(), sum / 50'000, 1e-6);
  EXPECT_EQ(many.largest_ns(), 4e6);
  EXPECT_NEAR(many.quantile_ns(0.5), 1'000 * std::log(2), 30);
}

TEST(Noise, TakesItsShareOfTheClock) {
  const Noise noise{Distribution(Constant{1'000'000}), 100};  // 0.1 s per second of work
  EXPECT_NEAR(noise.share(), 0.1 / 1.1, 1e-12);
  Rng rng(11);
  Duration lost;
  for (int i = 0; i < 2'000; ++i) {
    lost += sample_noise(noise, rng, Duration::from_nanos(50'000'000));
  }
  EXPECT_NEAR(lost.seconds(), 10, 0.4);  // of 100 s, in 10 000 detours: sd 0.1
  EXPECT_EQ(sample_noise({}, rng, Duration::from_nanos(1'000'000'000)), Duration::zero());
}

TEST(Noise, InterruptsShortWorkRarely) {
  const Noise noise{Distribution(Constant{1'000}), 1'000};
  Rng rng(2);
  int hit = 0;
  for (int i = 0; i < 100'000; ++i) {
    hit += sample_noise(noise, rng, Duration::from_nanos(10'000)) > Duration::zero() ? 1 : 0;
  }
  EXPECT_NEAR(hit, 1'000 * (1 - 0.005), 120);  // 1 - exp(-0.01) of them
}

TEST(Parse, ReadsWhatPeopleWrite) {
  EXPECT_EQ(parse_distribution("constant(10us)").value(), Distribution(Constant{10'000}));
  EXPECT_EQ(parse_distribution(" uniform ( 1us , 5 ms )").value(),
            Distribution(Uniform{1'000, 5e6}));
  EXPECT_EQ(parse_distribution("normal(1.5us,200ns)").value(), Distribution(Normal{1'500, 200}));
  const Noise noise = parse_noise("exponential(10us)@1kHz").value();
  EXPECT_EQ(noise.length, Distribution(Exponential{10'000}));
  EXPECT_EQ(noise.per_second_of_work, 1'000);
  EXPECT_EQ(parse_noise("constant(1s) @ 0.5 Hz").value().per_second_of_work, 0.5);
  EXPECT_EQ(parse_duration("1.5 ms").value(), Duration::from_nanos(1'500'000));
}

TEST(Parse, WritesWhatItReads) {
  for (const char* text : {"constant(10us)", "uniform(1us,5ms)", "normal(1.5us,200ns)",
                           "exponential(2s)", "constant(0ns)"}) {
    EXPECT_EQ(to_text(parse_distribution(text).value()), text);
  }
}

TEST(Parse, RefusesWithASentence) {
  for (const char* text :
       {"", "10us", "constant", "constant()", "constant(10)", "constant(10 parsec)",
        "constant(-1us)", "constant(nanus)", "constant(infs)", "uniform(5us,1us)", "uniform(1us)",
        "normal(1us,2us,3us)", "gamma(1us,2us)", "constant(10us", "constant(10us))",
        "constant(1us,)"}) {
    const auto parsed = parse_distribution(text);
    ASSERT_FALSE(parsed.ok()) << text;
    EXPECT_FALSE(parsed.error().sentence.empty());
  }
  for (const char* text : {"constant(10us)", "constant(10us)@", "constant(10us)@1", "@1kHz",
                           "constant(10us)@-1Hz", "constant(10us)@1s"}) {
    EXPECT_FALSE(parse_noise(text).ok()) << text;
  }
  EXPECT_FALSE(parse_duration("10").ok());
  EXPECT_FALSE(parse_duration("1e30s").ok());
}

}  // namespace
}  // namespace culprit::predict
