// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Rows are found by all that identifies them, and refused where there is no room.
#include "fold/rows.h"

#include <gtest/gtest.h>

#include <vector>

namespace culprit::fold {
namespace {

class RowsTest : public testing::Test {
 protected:
  static constexpr uint32_t kCapacity = 100, kSlots = 128;
  RowsTest() : rows_(kCapacity), index_(kSlots) {
    log_.row_capacity = kCapacity;
    log_.row_count = 1;
  }
  Rows rows() { return {log_, rows_.data(), index_.data(), kSlots}; }

  ProfileLog log_ = {};
  std::vector<ProfileRow> rows_;
  std::vector<uint32_t> index_;
};

TEST_F(RowsTest, EachPartOfAKeyTellsRowsApart) {
  const RowKey key{.place = 7, .parent = 0, .detail = 3, .kind = ProfileKind::mpi_call};
  RowKey place = key, parent = key, detail = key, kind = key;
  place.place = uint64_t{7} << 32;
  parent.parent = 1;
  detail.detail = 4;
  kind.kind = ProfileKind::device_call;
  uint32_t expected = 1;
  for (const RowKey& each : {key, place, parent, detail, kind}) {
    EXPECT_EQ(rows().of(each), expected);
    EXPECT_EQ(key_of(rows()[expected]), each);
    ++expected;
  }
  EXPECT_EQ(rows().of(key), 1u);
  EXPECT_EQ(rows().of(kind), 5u);
}

TEST_F(RowsTest, AFullTableKnowsItsRowsAndRefusesOthers) {
  for (uint32_t i = 1; i < kCapacity; ++i) EXPECT_EQ(rows().of({.place = i}), i);
  EXPECT_EQ(rows().of({.place = kCapacity}), Rows::kRoot);
  for (uint32_t i = 1; i < kCapacity; ++i) EXPECT_EQ(rows().of({.place = i}), i);
}

TEST_F(RowsTest, ALimitKeepsRoomForOthers) {
  EXPECT_EQ(rows().of({.place = 1}, 2), 1u);
  EXPECT_EQ(rows().of({.place = 2}, 2), Rows::kRoot);
  EXPECT_EQ(rows().of({.place = 2}), 2u);
}

TEST_F(RowsTest, TheIndexFollowsRowsThatMoved) {
  for (uint32_t i = 1; i < kCapacity; ++i) rows().of({.place = i});
  for (uint32_t i = 1; i < kCapacity / 2; ++i) rows_[i] = rows_[2 * i];
  log_.row_count = kCapacity / 2;
  rows().index_all();
  for (uint32_t i = 1; i < kCapacity / 2; ++i) EXPECT_EQ(rows().of({.place = 2 * i}), i);
  EXPECT_EQ(rows().of({.place = 1}), kCapacity / 2);
}

}  // namespace
}  // namespace culprit::fold
