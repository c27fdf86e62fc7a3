// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Watching a clock whose every reading is known: what is lost is found, where and how often.
#include <gtest/gtest.h>

#include "predict/machine/detours.h"

namespace culprit::predict {
namespace {

constexpr Duration nanos(int64_t ns) {
  return Duration::from_nanos(ns);
}

/// Goes on by 50 ns with each reading, and by more where told.
class FakeClock {
 public:
  explicit FakeClock(std::vector<std::pair<int64_t, int64_t>> detours, int64_t slow_from = -1)
      : detours_(std::move(detours)), slow_from_(slow_from) {}
  Time operator()() const {
    const Time time = Time::from_nanos(now_);
    now_ += slow_from_ >= 0 && now_ >= slow_from_ ? 100 : 50;
    if (next_ < detours_.size() && now_ >= detours_[next_].first) now_ += detours_[next_++].second;
    return time;
  }

 private:
  std::vector<std::pair<int64_t, int64_t>> detours_;
  int64_t slow_from_;
  mutable int64_t now_ = 0;
  mutable size_t next_ = 0;
};

constexpr NoiseSettings kSettings{nanos(100'000'000), nanos(1'000'000)};

MachineNoise seen(const FakeClock& clock) {
  return summarize(kSettings, {{"here", {watch(3, kSettings, clock)}}});
}

TEST(Noise, OfAQuietCoreIsNothing) {
  const MachineNoise noise = seen(FakeClock({}));
  EXPECT_EQ(noise.detours.share(), 0);
  EXPECT_EQ(noise.detours.length, Distribution());
  EXPECT_LE(noise.stolen.largest_ns(), 50);  // the first quantum has a reading less
  EXPECT_EQ(noise.stolen.quantile_ns(0.98), 0);
  EXPECT_EQ(noise.stolen.samples(), 100u);
  ASSERT_EQ(noise.cores.size(), 1u);
  EXPECT_EQ(noise.cores[0].cpu, 3u);
  EXPECT_EQ(noise.cores[0].host, "here");
}

TEST(Noise, FindsEachDetour) {
  // In a tenth of a second: 10 us, 250 us and 4 ms, the last over five quanta.
  const MachineNoise noise =
      seen(FakeClock({{10'500'000, 10'000}, {20'500'000, 250'000}, {30'500'000, 4'000'000}}));
  EXPECT_EQ(std::get<Empirical>(noise.detours.length.shape()).values_ns,
            (std::vector<double>{10'000, 250'000, 4'000'000}));
  EXPECT_NEAR(noise.detours.share(), 0.0426, 1e-4);
  EXPECT_NEAR(noise.detours.per_second_of_work, 3 / (0.1 - 0.00426), 0.1);
  EXPECT_EQ(noise.cores[0].detours, 3u);
  EXPECT_EQ(noise.cores[0].largest, nanos(4'000'000));
  EXPECT_NEAR(noise.cores[0].share, 0.0426, 1e-4);
  EXPECT_EQ(noise.stolen.largest_ns(), 1'000'000);  // quanta of which nothing was left
  EXPECT_NEAR(noise.stolen.mean_ns() * 100, 4'260'000, 1'000);
}

TEST(Noise, DoesNotCallJitterADetour) {
  const MachineNoise noise = seen(FakeClock({{10'500'000, 500}, {20'500'000, 900}}));
  EXPECT_EQ(noise.cores[0].detours, 0u);
}

TEST(Noise, OfASlowerClockIsInQuantaAndNotInDetours) {
  const MachineNoise noise = seen(FakeClock({}, 50'000'000));
  EXPECT_EQ(noise.detours.share(), 0);
  EXPECT_EQ(noise.stolen.quantile_ns(0.25), 0);
  EXPECT_NEAR(noise.stolen.quantile_ns(0.75), 500'000, 100);
}

TEST(Noise, OfManyCoresIsTheirSum) {
  const CoreRecord quiet = watch(0, kSettings, FakeClock({})),
                   noisy = watch(1, kSettings, FakeClock({{10'500'000, 10'000'000}}));
  const MachineNoise noise = summarize(kSettings, {{"a", {quiet}}, {"b", {noisy}}});
  ASSERT_EQ(noise.cores.size(), 2u);
  EXPECT_NEAR(noise.detours.share(), 0.05, 1e-4);
  EXPECT_EQ(noise.cores[0].share, 0);
  EXPECT_NEAR(noise.cores[1].share, 0.1, 1e-4);
  EXPECT_EQ(noise.cores[1].host, "b");
}

TEST(Noise, IsMeasuredHere) {
  Alone alone;
  const NoiseSettings brief{nanos(20'000'000), nanos(1'000'000)};
  const auto hosts = watch_cores(alone, brief);
  ASSERT_EQ(hosts.size(), 1u);
  for (const CoreRecord& core : hosts[0].cores) {
    EXPECT_GE(core.measured, brief.measured);
    EXPECT_EQ(core.readings.size(), 20u);
    EXPECT_GT(core.step, Duration::zero());
  }
}

}  // namespace
}  // namespace culprit::predict
