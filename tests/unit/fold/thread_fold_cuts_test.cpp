// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The same records give the same bytes, however they are cut into windows and pieces; and whatever
// the records, and however small the region, no time is lost.
#include <gtest/gtest.h>

#include <random>
#include <utility>

#include "fold/thread_fold.h"
#include "hand_made_log.h"

namespace culprit::fold {
namespace {

constexpr size_t kWindow = size_t{64} << 10;

/// Records of all kinds in any order, with few different values: many of them do not fit together.
class RandomLog {
 public:
  explicit RandomLog(uint32_t seed) : random_(seed) {}

  HandMadeLog make(unsigned records) {
    HandMadeLog log;
    for (unsigned i = 0; i < records; ++i) put_one(log);
    return log;
  }

 private:
  uint32_t number(uint32_t below) { return static_cast<uint32_t>(random_() % below); }
  uint16_t little() { return static_cast<uint16_t>(number(4)); }
  uint64_t code() { return 1000 + number(8); }

  void put_one(HandMadeLog& log) {
    time_ += number(10) == 0 ? number(100'000'000) : number(1000);
    switch (number(4)) {
      case 0:
        return put_definition_or_sample(log);
      case 1:
        return put_call(log);
      case 2:
        return put_construct(log);
      default:
        return put_rest(log);
    }
  }

  void put_definition_or_sample(HandMadeLog& log) {
    if (number(3) == 0) {
      ++paths_;
      return log.put(time_,
                     raw::path_def{.path = paths_, .parent = number(paths_), .address = code()});
    }
    log.put(time_, raw::sample{.path = number(paths_ + 2), .missed = little()});
  }

  void put_call(HandMadeLog& log) {
    const uint32_t path = number(paths_ + 2);
    switch (number(7)) {
      case 0:
        return log.put(time_, raw::mpi_enter{.path = path, .name = little()});
      case 1:
        return log.put(time_, raw::mpi_leave{.name = little()});
      case 2:
        return log.put(time_, raw::mpi_isend{.bytes = 8, .request = 1});
      case 3:
        return log.put(time_, raw::device_enter{.path = path, .name = little()});
      case 4:
        return log.put(time_, raw::device_leave{.name = little()});
      case 5:
        return log.put(time_, raw::mpi_tests{.path = path,
                                             .name = little(),
                                             .until = time_ += number(500),
                                             .count = 3,
                                             .inside = number(600)});
      default:
        return log.put(time_, raw::blocked{.path = path,
                                           .name = little(),
                                           .until = time_ += number(500),
                                           .begun = number(2) * (time_ - number(500))});
    }
  }

  void put_construct(HandMadeLog& log) {
    const uint64_t region = number(3);
    const auto kind = static_cast<uint16_t>(number(12));
    switch (number(10)) {
      case 0:
        return log.put(time_, raw::omp_parallel_begin{.path = number(paths_ + 1),
                                                      .region = region,
                                                      .code = code(),
                                                      .lone_task = number(2) * number(20)});
      case 1:
        return log.put(time_, raw::omp_parallel_end{.region = region});
      case 2:
        return log.put(time_, raw::omp_implicit_begin{.region = region,
                                                      .team_size = 2,
                                                      .index = number(2),
                                                      .fork = number(3),
                                                      .forked = time_ - number(3000)});
      case 3:
        return log.put(time_, raw::omp_implicit_end{.region = region});
      case 4:
        return log.put(time_, raw::omp_sync_begin{.kind = kind, .code = code(), .region = region});
      case 5:
        return log.put(time_, raw::omp_sync_end{.kind = kind,
                                                .code = code(),
                                                .region = region,
                                                .joined = number(2) * (time_ - number(3000))});
      case 6:
        return log.put(time_, raw::omp_work_begin{.kind = kind, .code = code()});
      case 7:
        return log.put(time_, raw::omp_work_end{.kind = kind});
      case 8:
        return log.put(time_,
                       raw::omp_task_switch{.status = kind, .task = number(5), .left = number(5)});
      default:
        return log.put(time_, raw::omp_wait_begin{.kind = kind, .code = code()});
    }
  }

  void put_rest(HandMadeLog& log) {
    const uint64_t mutex = number(3);
    switch (number(10)) {
      case 0:
        return log.put(time_, raw::omp_mutex_acquire{.kind = little(),
                                                     .mutex = mutex,
                                                     .code = code(),
                                                     .acquired_after = number(3) * 4000,
                                                     .released_after = number(2) * 9000});
      case 1:
        return log.put(time_, raw::omp_mutex_acquired{.mutex = mutex});
      case 2:
        return log.put(time_, raw::omp_mutex_released{.mutex = mutex});
      case 3:
        return log.put(time_, raw::user_enter{.path = number(paths_ + 1),
                                              .name = little(),
                                              .kind = trace::RawUserRegion::iteration,
                                              .iteration = mutex});
      case 4:
        return log.put(time_,
                       raw::user_leave{.kind = trace::RawUserRegion::iteration, .name = little()});
      case 5:
        return log.put(time_, raw::func_enter{.frame = number(1000), .function = code()});
      case 6:
        return log.put(time_, raw::func_leave{.function = code()});
      case 7:
        return log.put(time_, raw::counters{.first = time_}, {number(100)});
      case 8:
        return log.put(time_, raw::tool_begin{});
      default:
        return log.put(time_, raw::tool_end{});
    }
  }

  std::mt19937 random_;
  uint64_t time_ = 1000;
  uint32_t paths_ = 1;
};

constexpr unsigned kRecords = 40'000;

TEST(ThreadFoldCuts, NeitherWindowsNorPiecesChangeAByte) {
  const HandMadeLog log = RandomLog(1).make(kRecords);
  Profile expected;
  expected.fold(log, size_t{1} << 20);
  expect_consistent(expected);
  for (size_t window = 4096; window <= size_t{1} << 20; window *= 2) {
    Profile whole, pieces;
    whole.fold(log, window);
    EXPECT_EQ(whole.comparable(), expected.comparable()) << window;
    pieces.fold(log, window, 1000);
    EXPECT_EQ(pieces.comparable(), expected.comparable()) << window;
  }
}

/// Who folds a window while it is filled knows only what it has by then.
TEST(ThreadFoldCuts, AWindowThatGrowsIsOneWindow) {
  const HandMadeLog log = RandomLog(6).make(kRecords);
  Profile whole, growing;
  whole.fold(log, kWindow);
  uint64_t number = 0;
  for (const std::vector<std::byte>& window : log.windows(kWindow)) {
    for (size_t used = 5000; used < kWindow; used += 5000) {
      growing->fold(number, std::span(window).first(used), used);
    }
    growing->fold(number++, window, kWindow);
  }
  EXPECT_EQ(growing.comparable(), whole.comparable());
}

TEST(ThreadFoldCuts, ARegionGoesOnAsACopy) {
  const HandMadeLog log = RandomLog(2).make(kRecords);
  Profile whole, halves;
  whole.fold(log, kWindow);
  const auto windows = log.windows(kWindow);
  uint64_t number = 0;
  for (; number < windows.size() / 2; ++number) halves->fold(number, windows[number], kWindow);
  Profile copy = halves;
  EXPECT_EQ(copy->window(), number - 1);
  for (; number < windows.size(); ++number) copy->fold(number, windows[number], kWindow);
  EXPECT_EQ(copy.comparable(), whole.comparable());
}

TEST(ThreadFoldCuts, WhateverTheRecordsNoTimeIsLost) {
  for (uint32_t seed = 10; seed < 30; ++seed) {
    Profile profile;
    profile.fold(RandomLog(seed).make(kRecords / 4), kWindow);
    expect_consistent(profile);
  }
}

TEST(ThreadFoldCuts, WhateverTheRecordsNoTimeIsLostInARegionThatIsFull) {
  for (uint32_t seed = 30; seed < 40; ++seed) {
    const HandMadeLog log = RandomLog(seed).make(4 * kRecords);
    Profile profile(size_t{96} << 10), again(size_t{96} << 10);
    profile.fold(log, kWindow);
    expect_consistent(profile);
    EXPECT_GT(profile.log().joins, 0u);
    EXPECT_GT(profile.log().cut_rows, 0u);
    again.fold(log, size_t{4} << 10);
    EXPECT_EQ(again.comparable(), profile.comparable());
  }
}

/// A function that calls two others, and these it, without end.
HandMadeLog recursion(unsigned calls) {
  HandMadeLog log;
  std::mt19937 random(3);
  uint64_t time = 1000;
  std::vector<uint64_t> open;
  for (unsigned i = 0; i < calls; ++i) {
    time += 1 + random() % 100;
    const bool calls_on = open.empty() || (open.size() < 60 && random() % 2 == 0);
    if (calls_on) {
      open.push_back(1 + random() % 3);
      log.put(time, raw::func_enter{.frame = static_cast<uint32_t>(10'000 - open.size()),
                                    .function = open.back()});
    } else {
      log.put(time, raw::func_leave{.function = open.back()});
      open.pop_back();
    }
  }
  return log;
}

TEST(ThreadFoldCuts, EndlessRecursionKeepsTheSumOfTimes) {
  const HandMadeLog log = recursion(300'000);
  Profile profile(size_t{256} << 10);
  profile.fold(log, kWindow);
  expect_consistent(profile);
  EXPECT_GT(profile.log().joins, 0u);
  EXPECT_EQ(profile.ticks_in(ProfileState::work), profile.log().until - profile.log().begin);
  // What is large stays known: the three functions that are called from outside.
  uint64_t outermost = 0;
  for (uint32_t i = 1; i < profile.log().row_count; ++i) {
    if (profile[i].kind == ProfileKind::function && profile[i].parent == 0) {
      outermost += profile[i].ticks;
    }
  }
  EXPECT_GT(outermost, (profile.log().until - profile.log().begin) / 2);
}

TEST(ThreadFoldCuts, EndlessCallPathsCountAtTheirCallers) {
  HandMadeLog log;
  constexpr uint32_t kPaths = 50'000;
  uint64_t time = 1000;
  for (uint32_t path = 1; path <= kPaths; ++path) {
    log.put(time, raw::path_def{.path = path, .parent = path - 1, .address = 1 + path % 2});
    log.put(time += 10, raw::mpi_enter{.path = path, .name = 1});
    log.put(time += 10, raw::mpi_leave{.name = 1});
  }
  Profile profile(size_t{256} << 10);
  profile.fold(log, kWindow);
  expect_consistent(profile);
  EXPECT_GT(profile.log().cut_paths, 0u);
  EXPECT_EQ(profile.ticks_in(ProfileState::mpi), kPaths * 10u);
}

TEST(ThreadFoldCuts, EventsBeyondTheDepthThatIsFollowedLoseNoTime) {
  HandMadeLog log;
  uint64_t time = 1000;
  constexpr uint32_t kDepth = 200;
  for (uint32_t i = 0; i < kDepth; ++i) {
    log.put(time += 10, raw::func_enter{.frame = 1000 - i, .function = 1});
  }
  for (uint32_t i = 0; i < kDepth; ++i) log.put(time += 10, raw::func_leave{.function = 1});
  log.put(time += 10, raw::func_enter{.frame = 1000, .function = 2});
  log.put(time += 10, raw::func_leave{.function = 2});
  Profile profile;
  profile.fold(log, kWindow);
  expect_consistent(profile);
  EXPECT_EQ(profile[profile.find(ProfileKind::function, 0, 2)].ticks, 10u);
  EXPECT_EQ(profile[profile.find(ProfileKind::function, 0, 1)].ticks, 3990u);
  EXPECT_EQ(profile.log().cut_depth, kDepth - 64);
}

/// The records of a log one by one, each of which may still grow when it is seen first.
TEST(ThreadFoldCuts, ARecordThatGrowsIsFoldedOnce) {
  constexpr size_t kBytes = 4096;
  HandMadeLog growing[4], after;
  const raw::omp_mutex_acquire states[4] = {
      {.kind = 5, .mutex = 9, .code = 500},
      {.kind = 5, .mutex = 9, .code = 500, .acquired_after = 8000},
      {.kind = 5, .mutex = 9, .code = 500, .acquired_after = 8000, .released_after = 9000},
      {.kind = 5, .mutex = 9, .code = 500, .acquired_after = 8000, .released_after = 9000}};
  for (int i = 0; i < 4; ++i) {
    growing[i].put(1000, raw::mpi_enter{.name = 1});
    growing[i].put(2000, raw::mpi_leave{.name = 1});
    growing[i].put(3000, states[i]);
  }
  growing[3].put(20'000, raw::mpi_enter{.name = 1});
  growing[3].put(21'000, raw::mpi_leave{.name = 1});
  Profile expected;
  expected.fold(growing[3], kBytes);
  for (unsigned shown = 0; shown < 8; ++shown) {
    Profile profile;
    for (int i = 0; i < 4; ++i) {
      const auto window = growing[i].windows(kBytes).front();
      // Where the newest record ends: four words of header and fields, or five with what it notes.
      const size_t end = i == 0 ? 2 * 16 + 32 : 2 * 16 + 40;
      if (i == 3) {
        profile->fold(0, window, kBytes);
      } else if ((shown >> i & 1) != 0) {
        profile->fold(0, window, end, true);
      }
    }
    EXPECT_EQ(profile.comparable(), expected.comparable()) << shown;
  }
}

TEST(ThreadFoldCuts, AFullListOfChangesStopsTheFold) {
  const HandMadeLog log = RandomLog(5).make(kRecords);
  Profile expected, profile(size_t{96} << 10), small(size_t{96} << 10);
  small.fold(log, kWindow);
  std::vector<Change> memory(64);
  ChangeList list(memory.data(), 64, 0);
  uint64_t last = 0, number = 0, in_stretches = 0;
  for (const auto& window : log.windows(kWindow)) {
    bool done = false;
    while (!done) {
      done = profile->fold(number, window, kWindow, false, &list);
      for (uint32_t i = 0; i < list.count(); ++i) {
        const Change& entry = list.begin()[i];
        ASSERT_LT(entry.about(), profile.log().row_count);
        ASSERT_GE(entry.time, last);
        in_stretches += last == 0 ? 0 : entry.time - last;
        last = entry.time;
      }
      list.take(list.count());
    }
    ++number;
  }
  EXPECT_EQ(last, profile.log().until);
  EXPECT_GT(in_stretches, 0u);
  EXPECT_EQ(profile.comparable(), small.comparable());
}

}  // namespace
}  // namespace culprit::fold
