// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Blocks of records come back as the bytes that they were, whatever these are.

#include <gtest/gtest.h>

#include <cstring>
#include <memory>

#include "trace/raw/kinds.h"
#include "windows.h"

namespace culprit::tests {
namespace {

using trace::RawBlock;
using trace::RawKind;

constexpr uint32_t kWindow = trace::kRawWindow;

RawBlock header_of(const std::string& block) {
  RawBlock header;
  memcpy(&header, block.data(), sizeof header);
  return header;
}

/// What a block's content becomes; empty if it is refused.
std::string unpacked(const std::string& block) {
  static const auto model = std::make_unique<trace::RawModel>();
  const RawBlock header = header_of(block);
  std::string content = block.substr(sizeof header);
  content.append(trace::kRawUnpackSlack, '\0');
  std::string records(header.records, '?');
  const bool good = trace::raw_unpack(*model, {content.data(), header.packed}, records);
  return good ? records : "";
}

/// Checks that all come back, and returns what they take.
size_t check_round_trip(const std::string& records) {
  std::string back;
  size_t bytes = 0;
  for (const std::string& block : blocks_of(records, 0, 1, 0, kWindow)) {
    EXPECT_EQ(header_of(block).begin, back.size());
    EXPECT_LE(header_of(block).packed, header_of(block).records);
    EXPECT_EQ(header_of(block).is_last, back.size() + header_of(block).records == records.size());
    back += unpacked(block);
    bytes += block.size();
  }
  EXPECT_TRUE(back == records);
  return bytes;
}

/// Numbers of all sizes.
uint64_t any_number(std::mt19937_64& random) {
  return random() >> random() % 65 % 64;
}

TEST(Packed, EveryKindComesBack) {
  std::mt19937_64 random(1);
  for (unsigned kind = 0; kind < 256; ++kind) {
    std::string records;
    for (unsigned i = 0; i < 200; ++i) {
      std::vector<uint64_t> words(random() % (i % 10 == 0 ? 256 : 9));
      for (uint64_t& word : words) word = any_number(random);
      records += record(static_cast<RawKind>(kind), any_number(random), words,
                        static_cast<uint32_t>(any_number(random)), static_cast<uint16_t>(random()));
    }
    check_round_trip(records);
  }
}

TEST(Packed, KindsInTurnComeBack) {
  std::mt19937_64 random(2);
  for (unsigned round = 0; round < 30; ++round) {
    std::string records;
    uint64_t time = random();
    const unsigned kinds = 1 + static_cast<unsigned>(random() % 40);
    while (records.size() < kWindow / 4) {
      std::vector<uint64_t> words(random() % 7);
      for (uint64_t& word : words) word = random() % 3 == 0 ? any_number(random) : 17;
      time += random() % 1000;
      records += record(static_cast<RawKind>(random() % kinds), time, words, random() % 4);
    }
    check_round_trip(records);
  }
}

TEST(Packed, AnyBytesComeBack) {
  std::mt19937_64 random(3);
  for (unsigned round = 0; round < 300; ++round) {
    std::string bytes(random() % (round % 10 == 0 ? kWindow : 3000), '\0');
    for (char& byte : bytes) byte = static_cast<char>(random() >> random() % 64);
    const size_t packed = check_round_trip(bytes);
    // Each block has a header, and there is one at least for each kRawBlockRecords.
    EXPECT_LE(packed, bytes.size() + (bytes.size() / 2048 + 2) * (sizeof(RawBlock) + 8));
  }
}

TEST(Packed, WhatRepeatsItselfTakesLittle) {
  std::string records;
  for (uint64_t i = 0; records.size() < kWindow; ++i) {
    records += record(RawKind::mpi_enter, 1'000'000 + i * 1000, {}, 7, 3);
    records += record(RawKind::mpi_send, 1'000'100 + i * 1000, {5, 800}, 0);
    records += record(RawKind::mpi_leave, 1'000'400 + i * 1000, {}, 0, 3);
  }
  EXPECT_LT(check_round_trip(records), records.size() / 7);
}

TEST(Packed, ContentOfAnyKindIsUnpackedOrRefused) {
  std::mt19937_64 random(4);
  const auto model = std::make_unique<trace::RawModel>();
  for (unsigned round = 0; round < 5000; ++round) {
    const size_t packed = random() % 400;
    std::string content(packed + trace::kRawUnpackSlack, '\0');
    for (char& byte : content) byte = static_cast<char>(random() >> random() % 64);
    std::string to(random() % 3000 / 8 * 8, '\0');
    trace::raw_unpack(*model, {content.data(), packed}, to);
  }
}

}  // namespace
}  // namespace culprit::tests
