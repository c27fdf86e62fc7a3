// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Noise that comes and goes by known amounts, and messages on links whose times are known.
#include "predict/machine/perturbation.h"

#include <gtest/gtest.h>

namespace culprit::predict {
namespace {

constexpr Duration ms(int64_t ms) {
  return Duration::from_nanos(ms * 1'000'000);
}

double mean_change_s(const Perturbation& change, Duration compute) {
  Rng rng(1);
  constexpr int kTimes = 2'000;
  double sum = 0;
  for (int i = 0; i < kTimes; ++i) sum += sample_compute_noise(change, rng, compute).seconds();
  return sum / kTimes;
}

const Noise kTenth{Distribution(Constant{100'000}), 1'000};  // 0.1 s per second of work

TEST(ComputeNoise, Comes) {
  EXPECT_NEAR(mean_change_s({.noise = {{kTenth, 1}}}, ms(100)), 0.010, 0.0001);
  EXPECT_NEAR(mean_change_s({.noise = {{kTenth, 2}}}, ms(100)), 0.020, 0.0002);
}

TEST(ComputeNoise, Goes) {
  // 110 ms by the clock were 100 ms of work and 10 ms of noise.
  EXPECT_NEAR(mean_change_s({.noise = {{kTenth, -1}}}, ms(110)), -0.010, 1e-8);
  EXPECT_NEAR(mean_change_s({.noise = {{kTenth, -0.5}}}, ms(110)), -0.005, 1e-8);
}

TEST(ComputeNoise, ThatIsExchangedForItselfChangesNothingOnAverage) {
  EXPECT_NEAR(mean_change_s({.noise = {{kTenth, -1}, {kTenth, 1}}}, ms(110)), 0, 0.0001);
}

TEST(ComputeNoise, NeverTakesMoreThanThereIs) {
  const Perturbation change{.noise = {{kTenth, -100}}};
  Rng rng(1);
  EXPECT_EQ(sample_compute_noise(change, rng, ms(5)), Duration::zero() - ms(5));
  EXPECT_EQ(sample_compute_noise(change, rng, Duration::zero()), Duration::zero());
}

Link by_hand(int64_t latency_ns, double ns_per_byte) {
  Link link;
  link.latency = Duration::from_nanos(latency_ns);
  link.ns_per_byte = ns_per_byte;
  return link;
}

TEST(MessageTime, ScalesLatencyAndBandwidthApart) {
  const Link link = by_hand(1'000, 2);
  EXPECT_EQ(message_time(link, 500).nanos(), 2'000);
  EXPECT_EQ(message_time(link, 500, 3, 1).nanos(), 4'000);
  EXPECT_EQ(message_time(link, 500, 3, 2).nanos(), 3'500);
}

TEST(MessageDelay, IsSampled) {
  Rng rng(1);
  EXPECT_EQ(sample_message_delay({}, rng), Duration::zero());
  const Perturbation change{.message_delay = Distribution(Constant{700})};
  EXPECT_EQ(sample_message_delay(change, rng).nanos(), 700);
}

TEST(FromTo, LeavesWhatOneOfTheTwoDoesNotKnow) {
  Machine here, there;
  here.noise.detours = kTenth;
  there.links = {by_hand(100, 1)};
  EXPECT_FALSE(from_to(here, there).changes_compute());
  EXPECT_FALSE(from_to(here, there).changes_links());
  there.noise.detours = kTenth;
  here.links = {by_hand(1'000, 1)};
  const Perturbation change = from_to(here, there);
  ASSERT_TRUE(change.link(LinkKind::same_node));
  EXPECT_EQ(change.link(LinkKind::same_node)->recorded.latency.nanos(), 1'000);
  EXPECT_EQ(change.link(LinkKind::same_node)->wanted.latency.nanos(), 100);
  EXPECT_FALSE(change.link(LinkKind::other_node));
  EXPECT_NEAR(mean_change_s(change, ms(110)), 0, 0.0001);
}

}  // namespace
}  // namespace culprit::predict
