// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Reading whatever a program left: windows, tails, and garbage of every kind.

#include <fstream>
#include <random>

#include "assemble/raw_reader.h"
#include "fixture.h"

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
  std::vector<uint64_t> times(bool* damaged = nullptr, uint64_t* skipped = nullptr) {
    std::vector<uint64_t> times;
    const auto log = RawLog::map(folder_ / "events.0", 0);
    if (!log) return times;
    auto cursor = log->cursor();
    for (RawRecord at; cursor.next(at);) times.push_back(at.ticks);
    RawRecord after;
    EXPECT_FALSE(cursor.next(after)) << "the end is for ever";
    if (damaged != nullptr) *damaged = cursor.damaged();
    if (skipped != nullptr) *skipped = cursor.skipped();
    return times;
  }
};

TEST_F(ReaderTest, StopsAtTheFirstUnwrittenRecord) {
  write("events.0",
        record(RawKind::sample, 1) + record(RawKind::none, 2) + record(RawKind::sample, 3));
  EXPECT_EQ(times(), std::vector<uint64_t>{1});
}

TEST_F(ReaderTest, PadsLeadToTheNextWindow) {
  std::string window = record(RawKind::sample, 1);
  while (window.size() + 24 + 16 <= kRawWindow - 40) window += record(RawKind::path_def, 0, {0, 1});
  const size_t rest = kRawWindow - window.size();
  window += record(RawKind::pad, 0, std::vector<uint64_t>((rest - 16) / 8));
  ASSERT_EQ(window.size(), kRawWindow);
  write("events.0", window + record(RawKind::sample, 9));
  EXPECT_EQ(times().back(), 9u);
}

TEST_F(ReaderTest, ARecordBeyondTheFileIsDamage) {
  write("events.0",
        record(RawKind::sample, 1) + record(RawKind::path_def, 2, {0, 1}).substr(0, 20));
  bool damaged = false;
  EXPECT_EQ(times(&damaged), std::vector<uint64_t>{1});
  EXPECT_TRUE(damaged);
}

TEST_F(ReaderTest, ShortAndUnknownRecordsAreLeftOut) {
  write("events.0", record(RawKind::mpi_isend, 1, {1}) + record(static_cast<RawKind>(200), 2) +
                        record(RawKind::sample, 3));
  uint64_t skipped = 0;
  EXPECT_EQ(times(nullptr, &skipped), std::vector<uint64_t>{3});
  EXPECT_EQ(skipped, 2u);
}

TEST_F(ReaderTest, TheTailFollowsTheWholeWindows) {
  std::string tail = record(RawKind::sample, 5);
  tail.resize(kRawWindow);
  trace::RawTail where{};
  tail.append(reinterpret_cast<const char*>(&where), sizeof where);
  write("events.0", "");
  write("events.0.tail", tail);
  EXPECT_EQ(times(), std::vector<uint64_t>{5});
}

TEST_F(ReaderTest, MomentsNotedInAnAcquireAreRecordsOfTheirOwn) {
  constexpr uint64_t kAcquired = 3, kReleased = uint64_t{8} << 32;
  write("events.0",
        record(RawKind::omp_mutex_acquire, 10, {7, 1, kAcquired | kReleased}) +
            record(RawKind::omp_mutex_acquire, 20, {7, 1, kAcquired}) +
            record(RawKind::sample, 25) +
            record(RawKind::omp_mutex_acquire, 30, {7, 1, kReleased}) +  // makes no sense
            record(RawKind::omp_mutex_acquire, 40, {7, 1, kAcquired << 32 | 8}) +
            record(RawKind::omp_mutex_acquire, 50, {7, 1, 0}));
  EXPECT_EQ(times(), (std::vector<uint64_t>{10, 13, 18, 20, 23, 25, 30, 40, 48, 50}));
  const auto log = RawLog::map(folder_ / "events.0", 0);
  auto cursor = log->cursor();
  std::vector<RawKind> kinds;
  for (RawRecord at; kinds.size() < 3 && cursor.next(at);) {
    kinds.push_back(at.kind);
    EXPECT_EQ(at.w[0], 7u);
  }
  EXPECT_EQ(kinds, (std::vector{RawKind::omp_mutex_acquire, RawKind::omp_mutex_acquired,
                                RawKind::omp_mutex_released}));
}

TEST_F(ReaderTest, TheTailTellsHowLargeWindowsAre) {
  constexpr size_t kSmall = 65536;
  std::string window = record(RawKind::sample, 1);
  while (window.size() < kSmall - 40) window += record(RawKind::sample, 2);
  window += record(RawKind::pad, 0, std::vector<uint64_t>((kSmall - window.size() - 16) / 8));
  std::string tail = record(RawKind::sample, 5);
  tail.resize(kSmall);
  const trace::RawTail where{1};
  tail.append(reinterpret_cast<const char*>(&where), sizeof where);
  write("events.0", window);
  write("events.0.tail", tail);
  EXPECT_EQ(times().back(), 5u);
  // No tail, whatever its size: nothing of it counts.
  write("events.0.tail", tail.substr(0, kSmall / 2));
  EXPECT_EQ(times().back(), 2u);
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
    Listing scratch;
    (void)run_passes(folder_ / "raw", scratch, {1, code.symbols(), NameCache()});
  }
}

}  // namespace
}  // namespace culprit::assemble::test
