// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Logs whose windows are packed: whatever is damaged, only its window is lost, and it is counted;
// and a program may be killed while it packs.

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "assemble/raw/reader.h"
#include "windows.h"

namespace culprit::tests {
namespace {

using assemble::LogDamage;
using assemble::RawLog;
using trace::RawKind;

constexpr uint64_t kStart = 77;
constexpr uint32_t kSmall = 65536;

class PackedLog : public testing::Test {
 protected:
  PackedLog() : folder_(testing::TempDir() + "/packed." + std::to_string(getpid())) {
    std::filesystem::create_directories(folder_);
  }
  ~PackedLog() override { std::filesystem::remove_all(folder_); }

  void write(const std::string& name, const std::string& bytes) {
    std::ofstream(folder_ / name, std::ios::binary) << bytes;
  }
  /// The records' times; what is wrong is in damage_.
  std::vector<uint64_t> times() {
    std::vector<uint64_t> times;
    auto log = RawLog::map(GuardedPath(folder_), 0, kStart);
    damage_ = log ? log->damage() : LogDamage{0, 1, 0};
    if (!log) return times;
    log->salvage({0, 1'000'000, 1'000'000});
    damage_ = log->damage();
    auto cursor = log->cursor();
    for (assemble::RawRecord at; cursor.next(at);) times.push_back(at.ticks);
    return times;
  }
  uint64_t lost() const { return damage_.windows + damage_.cut; }

  std::filesystem::path folder_;
  LogDamage damage_;
};

/// A full window of samples from `time` on; the first one can be recognised.
std::string window_of(uint64_t time, uint32_t bytes = kSmall) {
  std::string window;
  for (; window.size() < bytes; ++time) window += record(RawKind::sample, time);
  return window;
}

std::string packed(const std::string& records, uint64_t window, uint32_t bytes = kSmall,
                   uint32_t log = 0) {
  std::string all;
  for (const std::string& block : blocks_of(records, window, kStart, log, bytes)) all += block;
  return all;
}

/// The end of a thread's log.
std::string last_window(uint64_t time) {
  return record(RawKind::sample, time) + record(RawKind::seal, time, {0}, 16, trace::kRawEndOfLog);
}

std::string tail_of(std::string records, uint64_t window, uint64_t bytes = kSmall,
                    uint64_t kept = 0) {
  const size_t words = records.size() / 8;
  const uint64_t seal = trace::raw_seal(trace::raw_sum(records.data(), words),
                                        trace::raw_seed(kStart, 0, window), words);
  records.resize(bytes);
  const trace::RawTail where{window, seal, {}, kept};
  return records.append(reinterpret_cast<const char*>(&where), sizeof where);
}

constexpr size_t kInWindow = kSmall / 16;

TEST_F(PackedLog, AThreadThatEndedIsWhole) {
  write("events.0.packed",
        packed(window_of(100), 0) + packed(window_of(10'000), 1) + packed(last_window(50'000), 2));
  const auto found = times();
  EXPECT_EQ(found.size(), 2 * kInWindow + 1);
  EXPECT_EQ(found.back(), 50'000u);
  EXPECT_EQ(lost(), 0u);
}

TEST_F(PackedLog, TheTailFollowsTheWindows) {
  write("events.0.packed", packed(window_of(100), 0));
  write("events.0.tail", tail_of(record(RawKind::sample, 9'000), 1));
  EXPECT_EQ(times().size(), kInWindow + 1);
  EXPECT_EQ(lost(), 0u);
  // No window was full.
  std::filesystem::remove(folder_ / "events.0.packed");
  write("events.0.tail", tail_of(record(RawKind::sample, 9'000), 0));
  EXPECT_EQ(times(), std::vector<uint64_t>{9'000});
  EXPECT_EQ(lost(), 0u);
}

TEST_F(PackedLog, AMissingEndIsCounted) {
  write("events.0.packed", packed(window_of(100), 0));
  EXPECT_EQ(times().size(), kInWindow);
  EXPECT_EQ(damage_.cut, 1u);
}

/// Killed after any byte of a window that is appended: the tail has it, and each record comes once.
TEST_F(PackedLog, WhoeverIsKilledWhilePackingLosesNothing) {
  const std::string before = packed(window_of(100, 2 * kSmall), 0, 2 * kSmall);
  const std::string second = window_of(20'000, 2 * kSmall);
  const std::string after = packed(second, 1, 2 * kSmall);
  write("events.0.tail", tail_of(second, 1, 2 * kSmall));
  for (size_t there = 0; there <= after.size(); ++there) {
    write("events.0.packed", before + after.substr(0, there));
    const auto found = times();
    ASSERT_EQ(found.size(), 4 * kInWindow) << there << " bytes";
    ASSERT_EQ(lost(), 0u) << there << " bytes";
    ASSERT_EQ(found[2 * kInWindow], 20'000u);
    there += there % 64 == 0 ? 0 : 100;  // all places of words, and others
  }
}

/// One byte is wrong: no more than its block is lost, and it is said.
TEST_F(PackedLog, AnyDamagedByteCostsItsWindowAlone) {
  const std::string first = packed(window_of(100), 0), second = packed(window_of(10'000), 1);
  const std::string third = packed(last_window(50'000), 2);
  const std::string all = first + second + third;
  const size_t whole = 2 * kInWindow + 1;
  for (size_t byte = 0; byte < all.size(); byte += byte < first.size() + 100 ? 1 : 37) {
    if (byte == 200) byte = first.size() - 100;
    std::string damaged = all;
    damaged[byte] = static_cast<char>(damaged[byte] ^ 1 << byte % 8);
    write("events.0.packed", damaged);
    const auto found = times();
    const bool is_third = byte >= first.size() + second.size();
    ASSERT_EQ(found.size(), is_third ? whole - 1 : whole - kInWindow) << "byte " << byte;
    ASSERT_GE(lost(), 1u) << "byte " << byte;
    ASSERT_TRUE(std::is_sorted(found.begin(), found.end()));
  }
}

TEST_F(PackedLog, ADamagedBlockLeavesTheOthersOfItsWindow) {
  const std::string window = window_of(100, 4 * kSmall);
  auto blocks = blocks_of(window, 0, kStart, 0, 4 * kSmall);
  ASSERT_EQ(blocks.size(), 4u);
  blocks[1][60] = static_cast<char>(blocks[1][60] ^ 4);
  write("events.0.packed", blocks[0] + blocks[1] + blocks[2] + blocks[3]);
  write("events.0.tail", tail_of(record(RawKind::sample, 90'000), 1, 4 * kSmall));
  EXPECT_EQ(times().size(), 3 * kInWindow + 1);
  EXPECT_EQ(damage_.windows, 1u);
  EXPECT_EQ(damage_.cut, 0u);
}

TEST_F(PackedLog, TheTailOfADamagedLogCounts) {
  std::string only = packed(window_of(100), 0);
  only[0] = 'x';
  write("events.0.packed", only);
  write("events.0.tail", tail_of(record(RawKind::sample, 9'000), 1));
  EXPECT_EQ(times(), std::vector<uint64_t>{9'000});
  EXPECT_GE(lost(), 1u);
}

TEST_F(PackedLog, WindowsOfOthersAreNoticed) {
  const std::string end = packed(last_window(50'000), 1);
  write("events.0.packed", packed(window_of(100), 0, kSmall, 1) + end);
  EXPECT_EQ(times(), std::vector<uint64_t>{50'000}) << "of another thread";
  EXPECT_EQ(damage_.windows, 1u);
  // Of its own, twice, or in another order.
  write("events.0.packed", packed(window_of(100), 0) + packed(window_of(100), 0) + end);
  EXPECT_EQ(times().size(), kInWindow + 1);
  write("events.0.packed", end + packed(window_of(100), 0));
  times();
  EXPECT_GE(lost(), 1u);
}

TEST_F(PackedLog, WhatWasDroppedIsAGap) {
  write("events.0.packed", packed(window_of(100), 0));
  write("events.0.tail", tail_of(record(RawKind::sample, 90'000), 5, kSmall, 2));
  EXPECT_EQ(times().size(), kInWindow);
  EXPECT_EQ(lost(), 0u);
  // The disk had no room for all of the second window.
  write("events.0.packed", packed(window_of(100), 0) + packed(window_of(10'000), 1).substr(0, 100));
  write("events.0.tail", tail_of(record(RawKind::sample, 90'000), 5, kSmall, 2));
  EXPECT_EQ(times().size(), kInWindow);
  EXPECT_EQ(lost(), 0u);
}

TEST_F(PackedLog, HolesAndGarbageAreNoBlocks) {
  const std::string first = packed(window_of(100), 0), end = packed(last_window(50'000), 1);
  write("events.0.packed", first + std::string(100'003, 'g') + end);
  std::filesystem::resize_file(folder_ / "events.0.packed", uint64_t{1} << 30);
  times();
  write("events.0.packed", std::string(100'000, '\0') + first + std::string(40, 'C') + end);
  EXPECT_EQ(times().size(), kInWindow + 1);
  EXPECT_EQ(lost(), 0u);
}

}  // namespace
}  // namespace culprit::tests
