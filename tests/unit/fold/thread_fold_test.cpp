// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Logs made by hand, whose profile is known.
#include "fold/thread_fold.h"

#include <gtest/gtest.h>

#include "hand_made_log.h"

namespace culprit::fold {
namespace {

using trace::profile_edge;

constexpr uint16_t kAllreduce = 3;
constexpr uint16_t kRegionEnd = 9, kTaskwait = 5, kTaskgroup = 6;  // ompt_sync_region_t
constexpr uint16_t kLoop = 1, kSingle = 3;                         // ompt_work_t
constexpr uint16_t kCritical = 5;                                  // ompt_mutex_t
constexpr size_t kWindow = size_t{64} << 10;

/// main (100) calls solve (200), which calls MPI (300).
void define_paths(HandMadeLog& log, uint64_t time) {
  log.put(time, raw::path_def{.path = 1, .parent = 0, .address = 100});
  log.put(time, raw::path_def{.path = 2, .parent = 1, .address = 200});
  log.put(time, raw::path_def{.path = 3, .parent = 2, .address = 300});
}

/// The row of the path's innermost frame.
uint32_t frame(const Profile& profile, const std::vector<uint64_t>& addresses) {
  uint32_t row = Rows::kRoot;
  for (const uint64_t address : addresses) row = profile.find(ProfileKind::frame, row, address);
  return row;
}

Profile folded(const HandMadeLog& log) {
  Profile profile;
  profile.fold(log, kWindow);
  expect_consistent(profile);
  return profile;
}

TEST(ThreadFold, CallsHangBelowNothingAndNameTheirFrame) {
  HandMadeLog log;
  define_paths(log, 1000);
  for (uint64_t i = 0; i < 3; ++i) {
    const uint64_t time = 2000 + i * 1000;
    log.put(time, raw::mpi_enter{.path = 3, .name = kAllreduce});
    log.put(time + 100, raw::mpi_collective{.sent = 8, .received = 16});
    log.put(time + 300, raw::mpi_leave{.name = kAllreduce});
  }
  const Profile profile = folded(log);
  const uint32_t call =
      profile.find(ProfileKind::mpi_call, 0, frame(profile, {100, 200, 300}), kAllreduce);
  EXPECT_EQ(profile[call].visits, 3u);
  EXPECT_EQ(profile[call].ticks, 900u);
  EXPECT_EQ(profile[call].amount, 72u);
  EXPECT_EQ(profile.ticks_in(ProfileState::mpi), 900u);
  EXPECT_EQ(profile.ticks_in(ProfileState::work), 1000u + 2 * 700u);
  // From its begin to its end, and from its end to its begin: two kinds of stretches.
  const uint64_t begins = profile_edge(call, false), ends = profile_edge(call, true);
  const auto in_mpi = static_cast<uint16_t>(ProfileState::mpi);
  EXPECT_EQ(profile[profile.find(ProfileKind::stretch, call, begins << 32 | ends, in_mpi)].visits,
            3u);
  EXPECT_EQ(profile[profile.find(ProfileKind::stretch, 0, ends << 32 | begins)].ticks, 1400u);
}

TEST(ThreadFold, AWorkersTimeIsIdleWakingWorkAndIdle) {
  HandMadeLog log;
  log.put(1000, raw::omp_thread_begin{.kind = 2});
  for (uint64_t i = 0; i < 2; ++i) {
    const uint64_t at = 2000 + i * 10000;
    // The end of the region before is reported when this one begins.
    if (i > 0) {
      log.put(at + 50, raw::omp_sync_end{.kind = kRegionEnd, .region = i, .joined = at - 6000});
      log.put(at + 50, raw::omp_implicit_end{.region = i});
    }
    log.put(at + 50, raw::omp_implicit_begin{.region = i + 1,
                                             .team_size = 2,
                                             .index = 1,
                                             .fork = uint64_t{0} << 32 | 7,
                                             .forked = at});
    log.put(at + 3000, raw::omp_sync_begin{.kind = kRegionEnd, .region = i + 1});
  }
  const Profile profile = folded(log);
  const uint32_t team = profile.find(ProfileKind::team, 0, 7);
  const uint32_t barrier = profile.find(ProfileKind::sync, team, 0, kRegionEnd);
  EXPECT_EQ(profile[barrier].visits, 1u);
  EXPECT_EQ(profile[barrier].ticks, 1000u);  // until the other thread left the region
  EXPECT_EQ(profile[barrier].waits, 1000u);
  EXPECT_EQ(profile.ticks_in(ProfileState::waking), 50u);
  EXPECT_EQ(profile.ticks_in(ProfileState::work), 2 * 2950u);
  EXPECT_EQ(profile.ticks_in(ProfileState::idle), 1000u + 1000u + 6050u);
  EXPECT_EQ(profile.log().now_row, barrier);
  EXPECT_EQ(profile.log().now_state, ProfileState::idle);
}

TEST(ThreadFold, AMastersTeamLiesInItsFork) {
  HandMadeLog log;
  define_paths(log, 1000);
  log.put(2000, raw::omp_parallel_begin{.path = 3, .region = 1});
  log.put(2100, raw::omp_implicit_begin{.region = 1, .team_size = 2});
  log.put(2200, raw::omp_work_begin{.kind = kLoop, .code = 400});
  log.put(2700, raw::omp_work_end{.kind = kLoop});
  log.put(2700, raw::omp_sync_begin{.kind = kRegionEnd, .region = 1});
  log.put(3000, raw::omp_sync_end{.kind = kRegionEnd, .region = 1});
  log.put(3000, raw::omp_implicit_end{.region = 1});
  log.put(3050, raw::omp_parallel_end{.region = 1});
  // A team of one, whose begin is noted in the fork, and whose end is that of the region.
  log.put(4000, raw::omp_parallel_begin{.path = 3, .region = 2, .lone_task = 10});
  log.put(4500, raw::omp_parallel_end{.region = 2});
  const Profile profile = folded(log);
  const uint32_t fork = profile.find(ProfileKind::fork, 0, frame(profile, {100, 200, 300}));
  const uint32_t team = profile.find(ProfileKind::team, fork, 0);
  EXPECT_EQ(profile[fork].visits, 2u);
  EXPECT_EQ(profile[fork].ticks, 1050u + 500u);
  EXPECT_EQ(profile[team].ticks, 900u + 490u);
  EXPECT_EQ(profile[profile.find(ProfileKind::work, team, 400, kLoop)].ticks, 500u);
  EXPECT_EQ(profile.ticks_in(ProfileState::idle), 300u);
  EXPECT_EQ(profile.log().records, log.count() + 1);
}

TEST(ThreadFold, WithoutACallPathAForkIsKnownByItsReturnAddress) {
  HandMadeLog log;
  log.put(1000, raw::omp_parallel_begin{.region = 1, .code = 500});
  log.put(2000, raw::omp_parallel_end{.region = 1});
  const Profile profile = folded(log);
  EXPECT_EQ(profile[profile.find(ProfileKind::fork, 0, frame(profile, {500}))].ticks, 1000u);
}

TEST(ThreadFold, TasksInABarrierAreWork) {
  HandMadeLog log;
  log.put(1000, raw::omp_implicit_begin{.region = 1, .team_size = 2, .index = 1});
  log.put(2000, raw::omp_sync_begin{.kind = kRegionEnd, .code = 600, .region = 1});
  log.put(2100, raw::omp_task_switch{.status = 7, .task = 11, .left = 0});
  log.put(2500, raw::omp_sync_begin{.kind = kTaskwait, .code = 700, .region = 1});
  log.put(2600, raw::omp_task_switch{.status = 7, .task = 12, .left = 11});
  log.put(2900, raw::omp_task_switch{.status = 1, .task = 11, .left = 12});
  log.put(3000, raw::omp_sync_end{.kind = kTaskwait, .code = 700, .region = 1});
  log.put(3100, raw::omp_task_switch{.status = 1, .task = 0, .left = 11});
  log.put(3500, raw::omp_sync_end{.kind = kRegionEnd, .code = 600, .region = 1});
  log.put(3600, raw::omp_implicit_end{.region = 1});
  const Profile profile = folded(log);
  const uint32_t team = profile.find(ProfileKind::team, 0, 0);
  const uint32_t barrier = profile.find(ProfileKind::sync, team, 600, kRegionEnd);
  const uint32_t outer = profile.find(ProfileKind::task, barrier, 0);
  const uint32_t wait = profile.find(ProfileKind::sync, outer, 700, kTaskwait);
  const uint32_t inner = profile.find(ProfileKind::task, wait, 0);
  EXPECT_EQ(profile[barrier].ticks, 1500u);
  EXPECT_EQ(profile[barrier].waits, 100u + 400u);
  EXPECT_EQ(profile[outer].ticks, 1000u);
  EXPECT_EQ(profile[wait].waits, 100u + 100u);
  EXPECT_EQ(profile[inner].ticks, 300u);
  EXPECT_EQ(profile.ticks_in(ProfileState::idle), 700u);
}

TEST(ThreadFold, ATaskgroupWaitsOnlyAtItsEnd) {
  HandMadeLog log;
  log.put(1000, raw::omp_implicit_begin{.region = 1, .team_size = 2, .index = 1});
  log.put(2000, raw::omp_sync_begin{.kind = kTaskgroup, .code = 600});
  log.put(2500, raw::omp_wait_begin{.kind = kTaskgroup, .code = 600});
  log.put(2800, raw::omp_wait_end{.kind = kTaskgroup, .code = 600});
  log.put(2800, raw::omp_sync_end{.kind = kTaskgroup, .code = 600});
  // Inside a barrier that is reported as a whole, the waiting part is nothing new.
  log.put(3000, raw::omp_sync_begin{.kind = kRegionEnd, .code = 800});
  log.put(3000, raw::omp_wait_begin{.kind = kRegionEnd, .code = 800});
  log.put(3700, raw::omp_wait_end{.kind = kRegionEnd, .code = 800});
  log.put(3700, raw::omp_sync_end{.kind = kRegionEnd, .code = 800});
  const Profile profile = folded(log);
  const uint32_t team = profile.find(ProfileKind::team, 0, 0);
  const uint32_t group = profile.find(ProfileKind::sync, team, 600, kTaskgroup);
  EXPECT_EQ(profile[group].ticks, 800u);
  EXPECT_EQ(profile[profile.find(ProfileKind::wait, group, 600, kTaskgroup)].ticks, 300u);
  EXPECT_EQ(profile.visits_of(ProfileKind::wait), 1u);
  EXPECT_EQ(profile.ticks_in(ProfileState::idle), 1000u);
}

TEST(ThreadFold, WhatIsNotEndedEndsWithWhatIsAroundIt) {
  HandMadeLog log;
  log.put(1000, raw::omp_implicit_begin{.region = 1, .team_size = 2, .index = 1});
  log.put(1100, raw::omp_work_begin{.kind = kSingle, .code = 400});  // gcc never ends it
  log.put(1200, raw::omp_work_begin{.kind = kLoop, .code = 500});
  log.put(1300, raw::omp_sync_begin{.kind = kRegionEnd, .region = 1});
  log.put(2000, raw::omp_implicit_begin{.region = 2, .team_size = 2, .index = 1});
  log.put(2500, raw::omp_implicit_end{.region = 2});
  log.put(2600, raw::omp_work_end{.kind = kLoop});
  log.put(2700, raw::mpi_leave{.name = kAllreduce});
  log.put(2800, raw::omp_implicit_end{.region = 7});
  const Profile profile = folded(log);
  const uint32_t team = profile.find(ProfileKind::team, 0, 0);
  EXPECT_EQ(profile[team].visits, 2u);
  EXPECT_EQ(profile[team].ticks, 1500u);
  EXPECT_EQ(profile[profile.find(ProfileKind::work, team, 400, kSingle)].ticks, 100u);
  EXPECT_EQ(profile[profile.find(ProfileKind::work, team, 500, kLoop)].ticks, 100u);
  EXPECT_EQ(profile[profile.find(ProfileKind::sync, team, 0, kRegionEnd)].ticks, 700u);
  EXPECT_EQ(profile.log().unpaired, 3u);
}

TEST(ThreadFold, AMutexHasItsWaitAndItsHold) {
  HandMadeLog log;
  log.put(1000, raw::thread_begun{});
  // Free: it is counted, and no stretch ends.
  log.put(
      2000,
      raw::omp_mutex_acquire{
          .kind = kCritical, .mutex = 9, .code = 500, .acquired_after = 10, .released_after = 300});
  // Contended, in records of its own; the sample finds the thread waiting.
  log.put(10000, raw::omp_mutex_acquire{.kind = kCritical, .mutex = 9, .code = 500});
  log.put(12000, raw::sample{});
  log.put(30000, raw::omp_mutex_acquired{.kind = kCritical, .mutex = 9, .code = 500});
  log.put(31000, raw::omp_mutex_released{.kind = kCritical, .mutex = 9, .code = 500});
  // A test that fails leaves nothing.
  log.put(40000, raw::omp_mutex_acquire{.kind = 2, .mutex = 9, .code = 600});
  log.put(50000, raw::mpi_enter{.name = kAllreduce});
  log.put(51000, raw::mpi_leave{.name = kAllreduce});
  const Profile profile = folded(log);
  const ProfileRow& mutex = profile[profile.find(ProfileKind::mutex, 0, 500, kCritical)];
  EXPECT_EQ(mutex.visits, 2u);
  EXPECT_EQ(mutex.ticks, 300u + 21000u);
  EXPECT_EQ(mutex.waits, 10u + 20000u);
  EXPECT_EQ(profile.ticks_in(ProfileState::lock), 20000u);
  EXPECT_EQ(profile.ticks_in(ProfileState::work), 9000u + 20000u);
  EXPECT_EQ(profile.amount_of(ProfileKind::sampled), 0u);
  EXPECT_EQ(profile.log().records, log.count() + 2);
}

TEST(ThreadFold, SamplesBelongToTheirStretch) {
  HandMadeLog log;
  define_paths(log, 1000);
  for (uint64_t i = 0; i < 10; ++i) {
    const uint64_t time = 10000 * (i + 1);
    log.put(time, raw::sample{.path = 2});
    log.put(time + 1, raw::sample{.path = 3, .missed = 2});
    log.put(time + 5, raw::mpi_enter{.path = 3, .name = kAllreduce});
    log.put(time + 6, raw::sample{.path = 3});
    log.put(time + 10, raw::mpi_leave{.name = kAllreduce});
  }
  const Profile profile = folded(log);
  const uint32_t solve = frame(profile, {100, 200}), at_mpi = frame(profile, {100, 200, 300});
  const uint32_t call = profile.find(ProfileKind::mpi_call, 0, at_mpi, kAllreduce);
  const uint64_t between = uint64_t{profile_edge(call, true)} << 32 | profile_edge(call, false);
  const uint32_t stretch = profile.find(ProfileKind::stretch, 0, between);
  EXPECT_EQ(profile[stretch].amount, 9 * 4u);
  EXPECT_EQ(profile[profile.find(ProfileKind::sampled, stretch, solve)].amount, 9u);
  EXPECT_EQ(profile[profile.find(ProfileKind::sampled, stretch, at_mpi)].amount, 27u);
  EXPECT_EQ(profile.log().samples, 50u);
  // In MPI they say nothing about functions, and count for the stretch alone.
  EXPECT_EQ(profile.amount_of(ProfileKind::sampled), 40u);
  EXPECT_EQ(profile.amount_of(ProfileKind::stretch), 50u);
}

TEST(ThreadFold, TimeInTheKernelIsWhereTheSampleBeforeItWas) {
  using trace::RawKernelPlace;
  HandMadeLog log;
  define_paths(log, 1000);
  const auto use = [&](uint64_t time, RawKernelPlace place, uint32_t faults, uint64_t ns) {
    log.put(time, raw::kernel_use{.faults = faults, .place = place, .system_ns = ns});
  };
  log.put(10000, raw::sample{.path = 2});
  use(10001, RawKernelPlace::fault, 5, 100);
  log.put(11000, raw::sample{.path = 3});
  use(11001, RawKernelPlace::system_call, 0, 40);
  log.put(12000, raw::sample{.path = 2});
  use(12001, RawKernelPlace::fault, 7, 200);
  log.put(13000, raw::mpi_enter{.path = 3, .name = kAllreduce});
  use(14000, RawKernelPlace::here, 1, 3);
  log.put(15000, raw::mpi_leave{.name = kAllreduce});
  const Profile profile = folded(log);
  const uint32_t solve = frame(profile, {100, 200}), at_mpi = frame(profile, {100, 200, 300});
  const uint32_t call = profile.find(ProfileKind::mpi_call, 0, at_mpi, kAllreduce);
  const uint32_t before = profile.find(ProfileKind::stretch, 0, profile_edge(call, false));
  const uint32_t inside =
      profile.find(ProfileKind::stretch, call,
                   uint64_t{profile_edge(call, false)} << 32 | profile_edge(call, true),
                   static_cast<uint16_t>(ProfileState::mpi));
  const auto kernel = [&](uint32_t stretch, uint32_t at, RawKernelPlace place) {
    return profile[profile.find(ProfileKind::kernel, stretch, at, static_cast<uint16_t>(place))];
  };
  EXPECT_EQ(kernel(before, solve, RawKernelPlace::fault).amount, 12u);
  EXPECT_EQ(kernel(before, solve, RawKernelPlace::fault).waits, 300u);
  EXPECT_EQ(kernel(before, at_mpi, RawKernelPlace::system_call).waits, 40u);
  EXPECT_EQ(kernel(inside, 0, RawKernelPlace::here).amount, 1u);
  EXPECT_EQ(kernel(inside, 0, RawKernelPlace::here).waits, 3u);
  EXPECT_EQ(profile.amount_of(ProfileKind::kernel), 13u);
}

/// As many places as find no room in what is kept of a stretch.
TEST(ThreadFold, NoTimeInTheKernelIsLost) {
  HandMadeLog log;
  constexpr uint32_t kPlaces = 200;
  for (uint32_t i = 0; i < kPlaces; ++i) {
    log.put(1000, raw::path_def{.path = i + 1, .parent = 0, .address = i + 1});
  }
  for (uint32_t i = 0; i < kPlaces; ++i) {
    log.put(2000 + 2 * i, raw::sample{.path = i + 1});
    log.put(2001 + 2 * i,
            raw::kernel_use{.faults = 1, .place = trace::RawKernelPlace::fault, .system_ns = 9});
  }
  log.put(5000, raw::mpi_enter{.name = kAllreduce});
  EXPECT_EQ(folded(log).amount_of(ProfileKind::kernel), kPlaces);
}

TEST(ThreadFold, AStretchWithManySamplesIsCut) {
  HandMadeLog log;
  constexpr uint32_t kPlaces = 1000;
  for (uint32_t i = 0; i < kPlaces; ++i) {
    log.put(1000, raw::path_def{.path = i + 1, .parent = 0, .address = i + 1});
  }
  for (uint32_t i = 0; i < kPlaces; ++i) log.put(2000 + i, raw::sample{.path = i + 1});
  log.put(5000, raw::mpi_enter{.name = kAllreduce});
  const Profile profile = folded(log);
  EXPECT_EQ(profile.amount_of(ProfileKind::sampled), kPlaces);
  EXPECT_EQ(profile.ticks_in(ProfileState::work), 4000u);
}

TEST(ThreadFold, TestsAreInsideOfMpiOnlyInPart) {
  HandMadeLog log;
  define_paths(log, 1000);
  constexpr uint16_t kTest = 4, kProbe = 5;
  log.put(2000, raw::mpi_tests{.path = 3, .name = kTest, .until = 5000, .count = 20, .inside = 700},
          {uint64_t{2} << 32 | kProbe, 300});
  log.put(6000, raw::mpi_enter{.path = 3, .name = kAllreduce});
  const Profile profile = folded(log);
  const ProfileRow& tests =
      profile[profile.find(ProfileKind::mpi_tests, 0, frame(profile, {100, 200, 300}), kTest)];
  EXPECT_EQ(tests.visits, 20u);
  EXPECT_EQ(tests.ticks, 400u);
  EXPECT_EQ(
      profile[profile.find(ProfileKind::mpi_tests, 0, frame(profile, {100, 200}), kProbe)].ticks,
      300u);
  EXPECT_EQ(profile.ticks_in(ProfileState::mpi), 700u);
  EXPECT_EQ(profile.ticks_in(ProfileState::work), 5000u - 700u);
}

TEST(ThreadFold, ASleepMayBeginBeforeItsRecord) {
  HandMadeLog log;
  define_paths(log, 1000);
  log.put(2000, raw::sample{.path = 2});
  log.put(2000, raw::blocked{.path = 3, .name = 8, .until = 9000, .begun = 1500, .bytes = 64});
  log.put(10000, raw::mpi_enter{.path = 3, .name = kAllreduce});
  const Profile profile = folded(log);
  const ProfileRow& sleep =
      profile[profile.find(ProfileKind::blocked, 0, frame(profile, {100, 200, 300}), 8)];
  EXPECT_EQ(sleep.ticks, 7500u);
  EXPECT_EQ(sleep.amount, 64u);
  EXPECT_EQ(profile.ticks_in(ProfileState::asleep), 7500u);
}

TEST(ThreadFold, CountersCountForTheStretchThatEnds) {
  HandMadeLog log;
  log.put(1000, raw::counter_def{.counter = 1, .height = true});
  const auto read = [&](uint64_t time, uint64_t count, uint64_t height) {
    log.put(time, raw::counters{.first = count}, {height});
  };
  read(2000, 500, 7);
  log.put(2000, raw::mpi_enter{.name = kAllreduce});
  read(3000, 530, 9);
  log.put(3000, raw::mpi_leave{.name = kAllreduce});
  read(4000, 600, 3);
  log.put(4000, raw::mpi_enter{.name = kAllreduce});
  const Profile profile = folded(log);
  EXPECT_EQ(profile.amount_of(ProfileKind::counter), 100u);
}

TEST(ThreadFold, IterationsHaveOneRowAndTheLongestAreKept) {
  HandMadeLog log;
  define_paths(log, 1000);
  constexpr uint16_t kStep = 6;
  uint64_t time = 2000;
  for (uint64_t i = 0; i < 100; ++i) {
    log.put(time,
            raw::user_enter{
                .path = 2, .name = kStep, .kind = trace::RawUserRegion::iteration, .iteration = i});
    time += i == 42 ? 5000000 : 100 + i;
    log.put(time, raw::user_leave{.kind = trace::RawUserRegion::iteration, .name = kStep});
  }
  const Profile profile = folded(log);
  const uint32_t row = profile.find(ProfileKind::iteration, 0, frame(profile, {100, 200}), kStep);
  EXPECT_EQ(profile[row].visits, 100u);
  EXPECT_EQ(profile[row].longest, 5000000u >> trace::kProfileLongestShift);
  const auto& longest = profile.log().iterations;
  EXPECT_EQ(longest[0].number, 42u);
  EXPECT_EQ(longest[0].ticks, 5000000u);
  EXPECT_EQ(longest[0].row, row);
  EXPECT_EQ(longest[1].number, 99u);
  EXPECT_EQ(longest[15].number, 85u);
}

TEST(ThreadFold, FunctionsThatAreLeftByAJumpEnd) {
  HandMadeLog log;
  log.put(1000, raw::func_enter{.frame = 900, .function = 10});
  log.put(2000, raw::func_enter{.frame = 800, .function = 20});
  log.put(3000, raw::func_enter{.frame = 700, .function = 30});  // jumps back into function 10
  log.put(4000, raw::func_enter{.frame = 850, .function = 40});
  log.put(5000, raw::func_leave{.function = 40});
  log.put(6000, raw::func_leave{.function = 10});
  const Profile profile = folded(log);
  const uint32_t outer = profile.find(ProfileKind::function, 0, 10);
  EXPECT_EQ(profile[outer].ticks, 5000u);
  const uint32_t left = profile.find(ProfileKind::function, outer, 20);
  EXPECT_EQ(profile[left].ticks, 2000u);
  EXPECT_EQ(profile[profile.find(ProfileKind::function, left, 30)].ticks, 1000u);
  EXPECT_EQ(profile[profile.find(ProfileKind::function, outer, 40)].ticks, 1000u);
}

TEST(ThreadFold, PausesAndTheCollectorsOwnTimeAreApart) {
  HandMadeLog log;
  log.put(1000, raw::thread_begun{});
  log.put(2000, raw::tool_begin{});
  log.put(2300, raw::tool_end{});
  log.put(3000, raw::recording_off{});
  log.put(4000, raw::mpi_enter{.name = kAllreduce});
  log.put(4500, raw::mpi_leave{.name = kAllreduce});
  log.put(7000, raw::recording_on{});
  log.put(8000, raw::mpi_enter{.name = kAllreduce});
  const Profile profile = folded(log);
  EXPECT_EQ(profile.ticks_in(ProfileState::tool), 300u);
  EXPECT_EQ(profile.ticks_in(ProfileState::absent), 4000u);
  EXPECT_EQ(profile.ticks_in(ProfileState::work), 1700u + 1000u);
}

TEST(ThreadFold, AStretchMayEndBeforeTheCollectorWasAtWork) {
  HandMadeLog log;
  log.put(1000, raw::thread_begun{});
  log.put(2000, raw::omp_mutex_acquire{.kind = kCritical, .mutex = 9, .code = 500});
  log.put(4000, raw::tool_begin{});
  log.put(9000, raw::tool_end{});
  log.put(20000, raw::omp_mutex_acquired{.kind = kCritical, .mutex = 9, .code = 500});
  log.put(21000, raw::omp_mutex_released{.kind = kCritical, .mutex = 9, .code = 500});
  log.put(22000, raw::mpi_enter{.name = kAllreduce});
  const Profile profile = folded(log);
  EXPECT_EQ(profile.ticks_in(ProfileState::work) + profile.ticks_in(ProfileState::tool) +
                profile.ticks_in(ProfileState::lock),
            21000u);
  EXPECT_EQ(profile.ticks_in(ProfileState::tool), 5000u);
}

TEST(ThreadFold, TheSeriesGrowsWithTheRun) {
  HandMadeLog log;
  constexpr uint64_t kDay = uint64_t{3'000'000'000} * 86'400;
  log.put(1, raw::thread_begun{});
  for (uint64_t day = 1; day <= 7; ++day) {
    log.put(day * kDay, raw::mpi_enter{.name = kAllreduce});
    log.put(day * kDay + kDay / 10, raw::mpi_leave{.name = kAllreduce});
  }
  const Profile profile = folded(log);
  EXPECT_EQ(profile.ticks_in(ProfileState::mpi), 7 * (kDay / 10));
  const trace::ProfileSeries& series = profile.log().series;
  EXPECT_LT((7 * kDay + kDay / 10) >> series.shift, trace::ProfileSeries::kBuckets);
  EXPECT_GE((7 * kDay + kDay / 10) >> series.shift, trace::ProfileSeries::kBuckets / 2 - 1);
}

}  // namespace
}  // namespace culprit::fold
