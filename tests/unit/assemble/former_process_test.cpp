// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Records of version 8: what they say stays, what is whole stays whole, and what is damaged
// damaged.
#include "assemble/raw/former_process.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <vector>

#include "trace/raw/seal.h"

namespace culprit::assemble {
namespace {

using trace::RawProcess;
using trace::RawProcessFile;

void append(std::vector<std::byte>& file, const void* from, size_t bytes) {
  const auto* const at = static_cast<const std::byte*>(from);
  file.insert(file.end(), at, at + bytes);
}

void append_former(std::vector<std::byte>& file, RawProcess process) {
  constexpr size_t kNew = offsetof(RawProcess, written_behind);
  process.version = kFormerRawVersion;
  const auto* const at = reinterpret_cast<const std::byte*>(&process);
  append(file, at, kNew);
  append(file, at + kNew + sizeof(uint64_t), offsetof(RawProcess, node) - kNew - sizeof(uint64_t));
}

RawProcess some_process(uint64_t logs) {
  RawProcess process = {};
  process.magic = trace::kRawMagic;
  process.end_ticks = 77;
  process.logs = logs;
  process.maps = 3;
  std::strcpy(process.parent, "job.1");
  std::strcpy(process.command, "./app input");
  process.sampling_signal = 0x2020202020202020;  // the end of a long command
  return process;
}

std::vector<std::byte> former_file() {
  std::vector<std::byte> file;
  append_former(file, some_process(1));
  for (uint64_t number : {1, 2}) {
    std::vector<std::byte> snapshot;
    append_former(snapshot, some_process(10 + number));
    append(snapshot, &number, sizeof number);
    std::vector<uint64_t> words(snapshot.size() / sizeof(uint64_t));
    std::memcpy(words.data(), snapshot.data(), snapshot.size());
    const uint64_t sum = trace::raw_sum(words.data(), words.size()) | 1;
    append(snapshot, &sum, sizeof sum);
    append(file, snapshot.data(), snapshot.size());
  }
  return file;
}

TEST(FormerProcess, SaysWhatItSaid) {
  const std::vector<std::byte> file = former_file();
  ASSERT_EQ(file.size(), kFormerProcessBytes);
  const auto found = from_former_version(file);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->now.version, trace::kRawVersion);
  EXPECT_EQ(found->now.logs, 1u);
  EXPECT_EQ(found->now.written_behind, 0u);
  EXPECT_EQ(found->now.sampling_signal, 0u);
  for (const uint64_t number : {1, 2}) {
    const trace::RawSnapshot& snapshot = found->snapshots[number - 1];
    EXPECT_EQ(snapshot.number, number);
    EXPECT_EQ(snapshot.sum, trace::sum_of_snapshot(snapshot));
    EXPECT_EQ(snapshot.process.logs, 10 + number);
    EXPECT_EQ(snapshot.process.maps, 3u);
    EXPECT_STREQ(snapshot.process.parent, "job.1");
    EXPECT_STREQ(snapshot.process.command, "./app input");
  }
}

TEST(FormerProcess, StaysDamaged) {
  std::vector<std::byte> file = former_file();
  file[file.size() - 100] ^= std::byte{1};
  const auto found = from_former_version(file);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->snapshots[0].sum, trace::sum_of_snapshot(found->snapshots[0]));
  EXPECT_NE(found->snapshots[1].sum, trace::sum_of_snapshot(found->snapshots[1]));
  EXPECT_NE(found->snapshots[1].sum, 0u);
}

TEST(FormerProcess, IsOfThatVersionAndWhole) {
  std::vector<std::byte> file = former_file();
  EXPECT_FALSE(from_former_version(std::span(file).first(file.size() - 1)));
  const uint32_t other = kFormerRawVersion - 1;
  std::memcpy(file.data() + offsetof(RawProcess, version), &other, sizeof other);
  EXPECT_FALSE(from_former_version(file));
}

}  // namespace
}  // namespace culprit::assemble
