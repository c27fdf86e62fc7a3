// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The table of communicators, and the writing of their members.

#include "collector/mpi/groups/comms.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "collector/mpi/groups/rank_list.h"
#include "tests/fakes/fake_recorder.h"

namespace culprit::collector::mpi {
namespace {

using tests::fake_records;
using tests::FakeRecord;

class Comms : public testing::Test {
 protected:
  void SetUp() override { tests::fake_recorder_reset(); }
};

Comm number(uint32_t id) {
  Comm comm;
  comm.id = id;
  return comm;
}

TEST_F(Comms, HandlesOfDifferentKindsDoNotMeet) {
  remember_handle(HandleKind::window, 0x40, number(5));
  remember_handle(HandleKind::file, 0x40, number(6));
  Comm found;
  ASSERT_TRUE(find_handle(HandleKind::window, 0x40, found));
  EXPECT_EQ(found.id, 5u);
  ASSERT_TRUE(find_handle(HandleKind::file, 0x40, found));
  EXPECT_EQ(found.id, 6u);
  EXPECT_FALSE(find_handle(HandleKind::message, 0x40, found));
}

TEST_F(Comms, ForgottenHandleMayComeAgain) {
  Comm found;
  remember_handle(HandleKind::window, 0x50, number(7));
  HandleEntry* entry = find_handle(HandleKind::window, 0x50, found);
  ASSERT_TRUE(entry);
  forget(entry);
  EXPECT_FALSE(find_handle(HandleKind::window, 0x50, found));
  remember_handle(HandleKind::window, 0x50, number(8));
  EXPECT_EQ(find_handle(HandleKind::window, 0x50, found), entry) << "entries are used again";
  EXPECT_EQ(found.id, 8u);
}

// Each thread has handles of its own, all in the same few chains.
TEST_F(Comms, ManyThreadsRememberAndForget) {
  constexpr unsigned kThreads = 8, kRounds = 2000;
  std::atomic<unsigned> wrong{0};
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < kThreads; ++t) {
    threads.emplace_back([&wrong, t] {
      for (unsigned i = 0; i < kRounds; ++i) {
        const uint64_t key = 0x100000 + t * 16 + i % 16;
        Comm found;
        remember_handle(HandleKind::window, key, number(t * kRounds + i));
        HandleEntry* const entry = find_handle(HandleKind::window, key, found);
        if (entry == nullptr || found.id != t * kRounds + i) ++wrong;
        forget(entry);
        if (find_handle(HandleKind::window, key, found) != nullptr) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0u);
}

TEST_F(Comms, HandleFreedBehindOurBackIsReplaced) {
  Comm found;
  remember_handle(HandleKind::window, 0x60, number(9));
  remember_handle(HandleKind::window, 0x60, number(10));
  HandleEntry* entry = find_handle(HandleKind::window, 0x60, found);
  EXPECT_EQ(found.id, 10u);
  forget(entry);
  EXPECT_FALSE(find_handle(HandleKind::window, 0x60, found));
}

/// The ranks that a list of records tells, in order.
std::vector<uint32_t> ranks_in_records() {
  std::vector<uint32_t> ranks;
  for (const FakeRecord& record : fake_records()) {
    const bool first = record.kind == RawKind::mpi_comm_def;
    const size_t header = first ? 2 : 1;
    const uint64_t here = first ? 2 * (record.words.size() - header) : record.words.at(0);
    for (uint64_t i = 0; i < here; ++i) {
      const uint64_t word = record.words.at(header + i / 2);
      ranks.push_back(static_cast<uint32_t>(i % 2 ? word >> 32 : word));
    }
  }
  return ranks;
}

void write_list(uint32_t members) {
  RankList list(*thread_log(), 1, 3);
  list.define(trace::RawCommOrigin::collective, 0, members, 0);
  for (uint32_t i = 0; i < members; ++i) list.add(2 * i);
  list.flush();
}

TEST_F(Comms, RanksOfAnyNumberArePacked) {
  for (const uint32_t members : {1u, 2u, 505u, 506u, 507u, 508u, 1014u, 1015u, 5000u}) {
    tests::fake_recorder_reset();
    write_list(members);
    ASSERT_EQ(fake_records().front().kind, RawKind::mpi_comm_def);
    EXPECT_EQ(fake_records().front().words.at(0) >> 32, members);
    EXPECT_EQ(fake_records().size() > 1, members > 506) << members;
    for (size_t i = 1; i < fake_records().size(); ++i) {
      EXPECT_EQ(fake_records()[i].kind, RawKind::mpi_comm_more);
      EXPECT_LE(fake_records()[i].words.size(), 255u);
    }
    std::vector<uint32_t> ranks = ranks_in_records();
    ASSERT_GE(ranks.size(), members);
    for (uint32_t i = 0; i < members; ++i) ASSERT_EQ(ranks[i], 2 * i) << members;
  }
}

}  // namespace
}  // namespace culprit::collector::mpi
