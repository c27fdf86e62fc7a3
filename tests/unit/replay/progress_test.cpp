// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Which classes of operations need progress, by what was seen of them. Pictures test the rest.
#include "replay/match/progress/progress.h"

#include <gtest/gtest.h>

namespace culprit::replay {
namespace {

Duration ms(double amount) {
  return Duration::from_nanos(static_cast<int64_t>(amount * 1e6));
}

HeldUp held(double silence_ms, double after_ms) {
  return {{}, ms(silence_ms), ms(after_ms), ms(silence_ms + after_ms)};
}

TEST(Progress, CountsTimesToAQuarterOfAnOctave) {
  TimeCounts counts;
  for (int i = 1; i <= 100; ++i) counts.add(ms(i));
  const double quartile = counts.lower_quartile().seconds() * 1e3;
  EXPECT_GE(quartile, 25);
  EXPECT_LE(quartile, 25 * 1.25);
  EXPECT_EQ(counts.at_least(ms(128)), 0u);
  EXPECT_EQ(counts.at_least(Duration::zero()), 100u);
  EXPECT_EQ(TimeCounts().lower_quartile(), Duration::zero());
  uint64_t sum = 0;
  counts.for_each([&](Duration time, uint64_t count) {
    TimeCounts again;  // what is told of a step is counted in the same
    again.add(time);
    again.for_each([&](Duration told, uint64_t) { EXPECT_EQ(told, time); });
    sum += count;
  });
  EXPECT_EQ(sum, 100u);
}

TEST(Progress, IsNeededWhereOperationsEndAfterEqualSilences) {
  const std::vector<HeldUp> eight(8, held(95, 1));
  EXPECT_EQ(judge_need(eight, 0, ms(4), ms(100)), Need::progress);
}

TEST(Progress, IsNeededByThoseThatWerePlainlyHeldAmongOthersThatWereNot) {
  const std::vector<HeldUp> two(2, held(95, 1));
  EXPECT_EQ(judge_need(two, 1, ms(4), ms(100)), Need::progress);
  EXPECT_EQ(judge_need({held(95, 1)}, 1, ms(4), ms(100)), Need::suspected);
  EXPECT_EQ(judge_need(two, 1, ms(5), ms(100)), Need::none);  // not so long a silence
  const std::vector<HeldUp> eight(8, held(95, 10));           // might have ended by themselves
  EXPECT_EQ(judge_need(eight, 0, ms(4), ms(100)), Need::progress);
  EXPECT_EQ(judge_need(eight, 1, ms(4), ms(100)), Need::none);  // one of nine ended without help
}

TEST(Progress, IsNotNeededByTransfersThatAreSlow) {
  EXPECT_EQ(judge_need(std::vector<HeldUp>(8, held(95, 60)), 0, ms(4), ms(100)), Need::none);
  std::vector<HeldUp> all;  // each lasts 400 ms, whenever the other comes back
  for (const double silence : {100, 330, 150, 390, 250, 360, 380}) {
    all.push_back(held(silence, 400 - silence));
  }
  EXPECT_EQ(judge_need(all, 0, ms(4), ms(100)), Need::none);
}

TEST(Progress, IsNeededByWhatLastsLongerThanOnAnySlowMachine) {
  const std::vector<HeldUp> twelve(12, held(100, 30));
  EXPECT_EQ(judge_need(twelve, 0, ms(10), ms(33)), Need::progress);
  EXPECT_EQ(judge_need(twelve, 0, ms(10), ms(60)), Need::none);
  EXPECT_EQ(judge_need({held(100, 30), held(100, 30)}, 0, ms(10), ms(33)), Need::progress);
  EXPECT_EQ(judge_need(std::vector<HeldUp>(12, held(30, 100)), 0, ms(10), ms(33)), Need::none);
}

TEST(Progress, IsNeededWhereTheEndKeepsItsDistanceFromTheReturn) {
  std::vector<HeldUp> all;  // what is left takes long, but always as long
  for (const double silence : {10, 60, 20, 90, 45, 70, 30}) all.push_back(held(silence, 30));
  EXPECT_EQ(judge_need(all, 0, ms(4), ms(100)), Need::progress);
}

TEST(Progress, IsSuspectedOfASingleOperationThatWasHeldForVeryLong) {
  EXPECT_EQ(judge_need({held(100, 1)}, 0, ms(4), ms(100)), Need::suspected);
  EXPECT_EQ(judge_need({held(70, 1)}, 0, ms(4), ms(100)), Need::none);
  EXPECT_EQ(judge_need({}, 0, ms(4), ms(100)), Need::none);
}

TEST(Progress, KnowsWhatOperationsTakeByThemselves) {
  const ProgressClass kind = progress_class({}, Helper::receiver, false, 1 << 21);
  ProgressEvidence evidence;
  EXPECT_EQ(evidence.usual_time(kind), ms(0.1));  // nothing was seen
  Assisted one{.at = LocationId(0),
               .call = {Time::from_nanos(0), Time::from_nanos(1'000'000), {}},
               .who = ProcessId(1),
               .begun = Time::from_nanos(0),
               .from = Time::min(),
               .until = Time::max(),
               .asked = Time::max(),
               .bytes = 1 << 21,
               .kind = kind};
  evidence.add_alone(one);
  EXPECT_NEAR(evidence.usual_time(kind).seconds(), 0.1e-3 + (1 << 21) * 1e-9, 1e-6);  // no more
  one.call.leave = Time::from_nanos(100'000);
  for (int i = 0; i < 10; ++i) evidence.add_alone(one);
  EXPECT_NEAR(evidence.usual_time(kind).seconds(), 0.3e-3, 0.08e-3);
}

// The other was still in the call that began its part when the message was complete, but for the
// word of it.
TEST(Progress, IsNotDisprovedByWhatWasOverBeforeTheSilence) {
  const ProgressClass kind = progress_class({}, Helper::late_receiver, false, 1 << 21);
  std::vector<Column<Silence>> found(2);
  found[1].push_back({Time::from_nanos(1'000'000), Time::from_nanos(9'000'000), LocationId(1)});
  const Silences silences(std::move(found));
  Assisted one{.at = LocationId(0),
               .call = {Time::from_nanos(0), Time::from_nanos(1'010'000), {}},
               .who = ProcessId(1),
               .begun = Time::from_nanos(500'000),
               .from = Time::from_nanos(1'000'000),
               .until = Time::from_nanos(9'000'000),
               .asked = Time::max(),
               .bytes = 1 << 21,
               .kind = kind};
  ProgressEvidence evidence;
  EXPECT_FALSE(evidence.add(one, silences));
  EXPECT_EQ(evidence.freed(kind, ms(1)), 0u);
  one.call.leave = Time::from_nanos(3'000'000);
  EXPECT_FALSE(evidence.add(one, silences));
  EXPECT_EQ(evidence.freed(kind, ms(1)), 1u);
}

}  // namespace
}  // namespace culprit::replay
