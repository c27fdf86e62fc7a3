// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Reading whatever a program left: windows, tails, and garbage of every kind.

#include <cstring>
#include <fstream>
#include <random>

#include "assemble/raw/reader.h"
#include "fixture.h"
#include "trace/raw/seal.h"

namespace culprit::assemble::test {
namespace {

using trace::kRawWindow;
using trace::RawHeader;
using trace::RawKind;

std::string record(RawKind kind, uint64_t time, std::vector<uint64_t> words = {}) {
  const RawHeader header{time, 0, 0, static_cast<uint8_t>(words.size()), kind};
  std::string bytes(reinterpret_cast<const char*>(&header), sizeof header);
  bytes.append(reinterpret_cast<const char*>(words.data()), words.size() * 8);
  return bytes;
}

class ReaderTest : public AssembleTest {
 protected:
  void write(const std::string& name, const std::string& bytes) {
    std::ofstream(folder_ / name, std::ios::binary) << bytes;
  }
  /// The records' times; what is wrong is in damage_ and skipped_.
  std::vector<uint64_t> times(RecordBounds bounds = {0, 1000, 1000}) {
    std::vector<uint64_t> times;
    auto log = RawLog::map(GuardedPath(folder_), 0, kStart);
    if (!log) return times;
    log->salvage(bounds);
    damage_ = log->damage();
    auto cursor = log->cursor();
    for (RawRecord at; cursor.next(at);) times.push_back(at.ticks);
    RawRecord after;
    EXPECT_FALSE(cursor.next(after)) << "the end is for ever";
    skipped_ = cursor.skipped();
    return times;
  }

  static constexpr uint64_t kStart = 77;
  LogDamage damage_;
  uint64_t skipped_ = 0;
};

constexpr uint64_t kSmall = 65536;

uint64_t seal_of(const std::string& records, uint64_t window, uint64_t start, uint32_t log = 0) {
  const size_t words = records.size() / 8;
  return trace::raw_seal(trace::raw_sum(records.data(), words), trace::raw_seed(start, log, window),
                         words);
}

/// A tail that holds these records, sealed or with another seal.
std::string tail_of(std::string records, uint64_t window, uint64_t bytes, uint64_t seal) {
  records.resize(bytes);
  const trace::RawTail where{window, seal, {}};
  return records.append(reinterpret_cast<const char*>(&where), sizeof where);
}

/// A full window of samples.
std::string window_of(uint64_t time, uint64_t index, uint64_t start, size_t bytes = kSmall) {
  std::string window = record(RawKind::sample, time);
  while (window.size() + 16 + 16 <= bytes - 24) window += record(RawKind::sample, time + 1);
  window += record(RawKind::pad, 0, std::vector<uint64_t>((bytes - 24 - window.size() - 16) / 8));
  const RawHeader header{time + 1, static_cast<uint32_t>(window.size()), 0, 1, RawKind::seal};
  const uint64_t seal = seal_of(window, index, start);
  window.append(reinterpret_cast<const char*>(&header), sizeof header);
  return window.append(reinterpret_cast<const char*>(&seal), sizeof seal);
}

TEST_F(ReaderTest, ALogEndsWithItsSeal) {
  const std::string log = sealed(record(RawKind::sample, 1), kStart, 0);
  write("events.0", log);
  EXPECT_EQ(times(), std::vector<uint64_t>{1});
  EXPECT_EQ(damage_.windows + damage_.cut + damage_.refused, 0u);
  for (size_t size = log.size() - 1; size > 0; --size) {
    write("events.0", log.substr(0, size));
    times();
    EXPECT_EQ(damage_.cut, 1u) << size;
  }
  write("events.0", "");
  EXPECT_FALSE(RawLog::map(GuardedPath(folder_), 0, kStart));
}

TEST_F(ReaderTest, HolesAreDamageThatIsNotRead) {
  write("events.0", sealed(record(RawKind::sample, 1), kStart, 0));
  std::error_code code;
  std::filesystem::resize_file(folder_ / "events.0", uintmax_t{200} << 30, code);
  if (code) GTEST_SKIP() << "the file system has no sparse files";
  times();
  EXPECT_GT(damage_.windows, 100'000u);
}

TEST_F(ReaderTest, AnyFlippedBitIsNoticed) {
  const std::string log =
      sealed(record(RawKind::path_def, 0, {0, 1}) + record(RawKind::sample, 2), kStart, 0);
  for (size_t bit = 0; bit < log.size() * 8; ++bit) {
    std::string flipped = log;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ 1 << bit % 8);
    write("events.0", flipped);
    times();
    const size_t seals_time = log.size() - trace::kRawSealBytes;  // nobody reads it
    const bool unused = bit / 8 >= seals_time && bit / 8 < seals_time + 8;
    EXPECT_EQ(damage_.windows + damage_.cut > 0, !unused) << "bit " << bit;
  }
}

TEST_F(ReaderTest, WindowsOfOthersAreNoticed) {
  const std::string one = window_of(1, 0, kStart), two = window_of(10, 1, kStart);
  const std::string end = sealed("", kStart, 0);
  // Sealed as a first window, but it is the third.
  write("events.0", two + one + end);
  times();
  EXPECT_EQ(damage_.windows, 3u);
  write("events.0", sealed(record(RawKind::sample, 1), kStart, 1));
  times();
  EXPECT_EQ(damage_.windows, 1u) << "of another thread";
  write("events.0", sealed(record(RawKind::sample, 1), kStart + 1, 0));
  times();
  EXPECT_EQ(damage_.windows, 1u) << "of another process";
}

TEST_F(ReaderTest, TheTailFollowsTheWholeWindows) {
  const std::string records = record(RawKind::sample, 5);
  write("events.0", "");
  write("events.0.tail", tail_of(records, 0, kRawWindow, seal_of(records, 0, kStart)));
  EXPECT_EQ(times(), std::vector<uint64_t>{5});
  // Without its seal, the same is damage, as far as it can be true.
  write("events.0.tail", tail_of(records, 0, kRawWindow, 0));
  EXPECT_EQ(times(), std::vector<uint64_t>{5});
  EXPECT_EQ(damage_.windows, 1u);
}

TEST_F(ReaderTest, OneRecordMayStillBeUnsealed) {
  const std::string one = record(RawKind::sample, 5);
  const std::string two = one + record(RawKind::mpi_tests, 6, {7, 1, 1});
  write("events.0.tail", tail_of(two, 0, kSmall, seal_of(one, 0, kStart)));
  EXPECT_EQ(times(), (std::vector<uint64_t>{5, 6}));
  EXPECT_EQ(damage_.windows, 0u);
  const std::string three = two + record(RawKind::sample, 8);
  write("events.0.tail", tail_of(three, 0, kSmall, seal_of(one, 0, kStart)));
  times();
  EXPECT_EQ(damage_.windows, 1u);
}

TEST_F(ReaderTest, WhatAThreadIsInComesLast) {
  const std::string records = record(RawKind::mpi_enter, 5) + record(RawKind::sample, 9);
  const auto with = [&](const RawHeader& header) {
    std::string tail = tail_of(records, 0, kSmall, seal_of(records, 0, kStart));
    memcpy(tail.data() + kSmall + offsetof(trace::RawTail, open), &header, sizeof header);
    write("events.0.tail", tail);
    return times({3, 60, 60});
  };
  write("events.0", "");
  EXPECT_EQ(with({5, 7, 1, 2, RawKind::mpi_awaits}), (std::vector<uint64_t>{5, 9, 5}));
  EXPECT_EQ(damage_.refused, 0u);
  EXPECT_EQ(with({5, 7, 1, 2, RawKind::none}), (std::vector<uint64_t>{5, 9})) << "in nothing";
  EXPECT_EQ(damage_.refused, 0u);
  // What cannot be a record of the process's life is damage.
  for (const RawHeader& wrong :
       {RawHeader{2, 7, 1, 2, RawKind::mpi_awaits}, RawHeader{61, 7, 1, 2, RawKind::mpi_awaits},
        RawHeader{5, 7, 1, 97, RawKind::mpi_awaits}, RawHeader{5, 7, 1, 2, RawKind::pad},
        RawHeader{5, 7, 1, 0, RawKind::mpi_send}}) {
    EXPECT_EQ(with(wrong), (std::vector<uint64_t>{5, 9}));
    EXPECT_EQ(damage_.refused, 1u);
  }
}

TEST_F(ReaderTest, TheTailTellsHowLargeWindowsAre) {
  const std::string records = record(RawKind::sample, 50);
  const std::string tail = tail_of(records, 1, kSmall, seal_of(records, 1, kStart));
  write("events.0", window_of(1, 0, kStart));
  write("events.0.tail", tail);
  EXPECT_EQ(times().back(), 50u);
  EXPECT_EQ(damage_.windows + damage_.cut, 0u);
  // No tail, whatever its size: nothing of it counts, and the end is missing.
  write("events.0.tail", tail.substr(0, kSmall / 2));
  EXPECT_EQ(times().back(), 2u);
  EXPECT_EQ(damage_.cut, 1u);
}

TEST_F(ReaderTest, ATailWhoseWindowWasJustAppendedDoesNotCount) {
  const std::string window = window_of(1, 0, kStart);
  const std::string records = window.substr(0, window.size() - trace::kRawSealBytes);
  write("events.0", window);
  write("events.0.tail", tail_of(window, 0, kSmall, seal_of(records, 0, kStart)));
  const size_t alone = times().size();
  EXPECT_EQ(damage_.windows + damage_.cut, 0u);
  // While it is being appended, it does.
  write("events.0", window.substr(0, kSmall / 2));
  EXPECT_EQ(times().size(), alone);
  EXPECT_EQ(damage_.windows + damage_.cut, 0u);
}

TEST_F(ReaderTest, WhatIsPlausibleInADamagedWindowIsUsed) {
  std::string log = sealed(record(RawKind::sample, 10) + record(RawKind::sample, 20) +
                               record(RawKind::sample, 30) + record(RawKind::sample, 40),
                           kStart, 0);
  const auto with = [&](size_t at, uint64_t word) {
    std::string damaged = log;
    memcpy(damaged.data() + at, &word, sizeof word);
    write("events.0", damaged);
    return times({5, 60, 60});
  };
  EXPECT_EQ(with(16, 35), (std::vector<uint64_t>{10, 30, 40})) << "out of order";
  EXPECT_EQ(with(16, 900), (std::vector<uint64_t>{10, 30, 40})) << "after the end";
  EXPECT_EQ(with(16, 2), (std::vector<uint64_t>{10, 30, 40})) << "before the begin";
  EXPECT_EQ(damage_.refused, 1u);
  EXPECT_EQ(with(24, 0), (std::vector<uint64_t>{10, 30, 40})) << "nothing";
  EXPECT_EQ(with(24, uint64_t{200} << 56 | uint64_t{3} << 48), (std::vector<uint64_t>{10, 30, 40}))
      << "an unknown kind";
  EXPECT_EQ(with(24, uint64_t{70} << 56 | uint64_t{2} << 48), (std::vector<uint64_t>{10, 20, 40}))
      << "longer than it was, over the next";
}

TEST_F(ReaderTest, AnEndThatNothingElseKnowsOfIsRefused) {
  std::string log = sealed(record(RawKind::sample, 10) + record(RawKind::sample, 20), kStart, 0);
  const uint64_t later = 500;
  memcpy(log.data() + 16, &later, sizeof later);
  write("events.0", log);
  EXPECT_EQ(times({5, 15, 100'000}), std::vector<uint64_t>{10});
  EXPECT_EQ(times({5, 490, 100'000}), (std::vector<uint64_t>{10, 500}));
}

TEST_F(ReaderTest, ShortAndUnknownRecordsAreLeftOut) {
  write("events.0", sealed(record(RawKind::mpi_isend, 1, {1}) +
                               record(static_cast<RawKind>(200), 2) + record(RawKind::sample, 3),
                           kStart, 0));
  EXPECT_EQ(times(), std::vector<uint64_t>{3});
  EXPECT_EQ(skipped_, 2u);
}

TEST_F(ReaderTest, MomentsNotedInAnAcquireAreRecordsOfTheirOwn) {
  constexpr uint64_t kAcquired = 3, kReleased = uint64_t{8} << 32;
  write("events.0",
        sealed(record(RawKind::omp_mutex_acquire, 10, {7, 1, kAcquired | kReleased}) +
                   record(RawKind::omp_mutex_acquire, 20, {7, 1, kAcquired}) +
                   record(RawKind::sample, 25) +
                   record(RawKind::omp_mutex_acquire, 30, {7, 1, kReleased}) +  // makes no sense
                   record(RawKind::omp_mutex_acquire, 40, {7, 1, kAcquired << 32 | 8}) +
                   record(RawKind::omp_mutex_acquire, 50, {7, 1, 0}),
               kStart, 0));
  EXPECT_EQ(times(), (std::vector<uint64_t>{10, 13, 18, 20, 23, 25, 30, 40, 48, 50}));
  const auto log = RawLog::map(GuardedPath(folder_), 0, kStart);
  auto cursor = log->cursor();
  std::vector<RawKind> kinds;
  for (RawRecord at; kinds.size() < 3 && cursor.next(at);) {
    kinds.push_back(at.kind);
    EXPECT_EQ(at.w[0], 7u);
  }
  EXPECT_EQ(kinds, (std::vector{RawKind::omp_mutex_acquire, RawKind::omp_mutex_acquired,
                                RawKind::omp_mutex_released}));
}

TEST_F(ReaderTest, AnUnreadableProcessIsCounted) {
  {
    auto p = process();
    p->rank(0, 1).ended(50);
    p->thread(0).enter(10, "MPI_Init", in_main({})).leave(20, "MPI_Init");
  }
  std::filesystem::create_directories(folder_ / "raw" / "node1.2.b");
  write("raw/node1.2.b/process", "garbage");
  EXPECT_EQ(losses(play(), "unreadable_processes"), 1u);
}

/// Whatever the bytes, assembly ends, nests (the listing checks) and does not crash.
TEST_F(ReaderTest, SurvivesFlippedBytes) {
  constexpr uint16_t kRegionEnd = 9;
  {
    auto p = process();
    p->rank(0, 1).ended(90);
    auto& master = p->thread(0);
    master.enter(1, "MPI_Send", in_main({"f"})).send(2, 0, 8).leave(3, "MPI_Send");
    master.put(RawKind::mpi_comm_def, 4, 0, 2, {0 | uint64_t{1} << 32, 0, 0});
    master.fork(10, 1, in_main({"f"}), code.at("f", 5)).begin(11, 1, 2, 0).sync(20, kRegionEnd, 1);
    master.put(RawKind::omp_task_switch, 21, 7, 0, {5, 0});
    master.put(RawKind::omp_mutex_acquire, 22, 5, 0, {7, 0});
    master.put(RawKind::omp_mutex_acquired, 23, 5, 0, {7, 0});
    master.sync_end(30, kRegionEnd, 1).end(31, 1).join(32, 1).sample(40, in_main({"g"}));
    p->thread(1).begin(12, 1, 2, 1).sync(25, kRegionEnd, 1).sync_end(80, kRegionEnd, 1).end(81, 1);
  }
  const auto events = folder_ / "raw" / "node1.1.a" / "events.0";
  std::ifstream in(events, std::ios::binary);
  const std::string whole((std::istreambuf_iterator<char>(in)), {});
  std::mt19937 random(42);
  for (int round = 0; round < 500; ++round) {
    std::string damaged = whole;
    for (int flip = 0; flip < 3; ++flip) {
      damaged[random() % damaged.size()] = static_cast<char>(random());
    }
    std::ofstream(events, std::ios::binary) << damaged;
    play_damaged();
  }
}

}  // namespace
}  // namespace culprit::assemble::test
