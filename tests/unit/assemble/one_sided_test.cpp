// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Windows and files: one number for all processes, and operations that complete where the thread
// synchronises.

#include "fixture.h"

namespace culprit::assemble::test {
namespace {

using trace::RawKind;
using trace::RmaOp;

constexpr uint64_t kAll = trace::kRawAllTargets;
constexpr auto kPut = static_cast<uint16_t>(RmaOp::put);
constexpr auto kGet = static_cast<uint16_t>(RmaOp::get);
constexpr auto kFlush = static_cast<uint16_t>(trace::RmaSyncKind::flush);
constexpr auto kFlushLocal = static_cast<uint16_t>(trace::RmaSyncKind::flush_local);
constexpr auto kStart = static_cast<uint16_t>(trace::RmaEpoch::start);
constexpr auto kComplete = static_cast<uint16_t>(trace::RmaEpoch::complete);
constexpr auto kPost = static_cast<uint16_t>(trace::RmaEpoch::post);
constexpr auto kWait = static_cast<uint16_t>(trace::RmaEpoch::wait);

TEST_F(AssembleTest, OperationsCompleteWhereTheirThreadSynchronises) {
  {
    auto p = process();
    p->rank(0, 2).ended(90);
    p->thread(0)
        .put(RawKind::rma_win_def, 1, 1, 4, {0})
        .put(RawKind::rma_op, 2, kPut, 4, {0, 8, 0})
        .put(RawKind::rma_op, 3, kGet, 4, {0, 0, 16})
        .put(RawKind::rma_sync, 4, kFlushLocal, 4, {0})
        .put(RawKind::rma_op, 5, kPut, 4, {0, 8, 0})
        .put(RawKind::rma_op, 6, kPut, 4, {1, 8, 0})
        .put(RawKind::rma_op, 7, kPut, 4, {1, 8, 0, 77})
        .put(RawKind::rma_op_done, 8, 0, 4, {77})
        .put(RawKind::rma_sync, 9, kFlush, 4, {0})
        .put(RawKind::rma_lock, 10, 0, 4, {kAll})
        .put(RawKind::rma_op, 11, kPut, 4, {0, 8, 0})
        .put(RawKind::rma_fence, 12, 8, 4)
        .put(RawKind::rma_win_free, 13, 0, 4);
    auto other = process("node1.2.b");
    other->rank(1, 2).ended(90);
    other->thread(0).put(RawKind::rma_win_def, 1, 1, 4, {0});
  }
  const RunFacts facts = play();
  EXPECT_TRUE(facts.losses.all().empty());
  EXPECT_EQ(listing.text("0.0"), R"(0 main
1   window 0 created
1   all on window 0: 17 assertions 0
2   rma 0 window 0 target 0 bytes 8/0 id own 0
3   rma 1 window 0 target 0 bytes 0/16 id own 0
4   sync 4 window 0 target 0
4   complete here window 0 id own 0
5   rma 0 window 0 target 0 bytes 8/0 id own 1
6   rma 0 window 0 target 1 bytes 8/0 id own 2
7   rma 0 window 0 target 1 bytes 8/0 id 77
8   complete here window 0 id 77
9   sync 3 window 0 target 0
9   complete there window 0 id own 0
9   complete here window 0 id own 1
9   complete there window 0 id own 1
10   complete there window 0 id 77
10   complete here window 0 id own 2
10   complete there window 0 id own 2
10   release window 0 target all
11   rma 0 window 0 target 0 bytes 8/0 id own 3
12   all on window 0: 0 assertions 8
12   complete here window 0 id own 3
12   complete there window 0 id own 3
13   window 0 destroyed
13   all on window 0: 18 assertions 0
90 -
)");
}

TEST_F(AssembleTest, EpochsKnowTheirGroupsToTheEnd) {
  for (int rank = 0; rank < 2; ++rank) {
    auto p = process("node1." + std::to_string(rank) + ".a");
    p->rank(rank, 2).ended(90);
    const uint64_t other = 1 - static_cast<uint64_t>(rank);
    p->thread(0)
        .put(RawKind::rma_win_def, 1, 0, 1, {0})
        .put(RawKind::rma_epoch, 2, kPost | 1 << 4, 1, {1, other})
        .put(RawKind::rma_epoch, 3, kStart, 1, {2, uint64_t{1} << 32})
        .put(RawKind::rma_op, 4, kPut, 1, {other, 8, 0})
        .put(RawKind::rma_epoch, 5, kComplete, 1, {0})
        .put(RawKind::rma_epoch, 6, kWait, 1, {0})
        .put(RawKind::rma_epoch, 7, kPost | trace::kRawRmaMoreRanks, 1, {1, 1})
        .put(RawKind::rma_epoch, 7, kPost, 1, {1, 0})
        .put(RawKind::rma_epoch, 8, kWait, 1, {0});
  }
  play();
  EXPECT_EQ(listing.text("0.0"), R"(0 main
1   window 0 created
1   all on window 0: 17 assertions 0
2   post window 0 group 1 assertions 1
3   start window 0 group 0 assertions 0
4   rma 0 window 0 target 1 bytes 8/0 id own 0
5   complete here window 0 id own 0
5   complete window 0 group 0 assertions 0
6   wait window 0 group 1 assertions 0
7   post window 0 group 2 assertions 0
8   wait window 0 group 2 assertions 0
90 -
)");
  const std::vector<ProcessId> both{ProcessId(0), ProcessId(1)};
  const std::vector<ProcessId> turned{ProcessId(1), ProcessId(0)};
  ASSERT_EQ(listing.definitions.groups.size(), 4u);
  EXPECT_EQ(listing.definitions.groups[0].members, both);
  EXPECT_EQ(listing.definitions.groups[1].members, std::vector<ProcessId>{ProcessId(1)});
  EXPECT_EQ(listing.definitions.groups[2].members, turned);
  EXPECT_EQ(listing.definitions.groups[3].members, std::vector<ProcessId>{ProcessId(0)});
}

TEST_F(AssembleTest, WindowsAndFilesAreTheSameForAllOfACommunicator) {
  for (int rank = 0; rank < 2; ++rank) {
    auto p = process("node1." + std::to_string(rank) + ".a");
    p->rank(rank, 2).ended(90);
    auto& t = p->thread(0);
    // Each process counts in its own way.
    const auto own = static_cast<uint32_t>(rank);
    t.put(RawKind::rma_win_def, 1, 0, 1 + own, {1});  // on MPI_COMM_SELF
    t.put(RawKind::rma_win_def, 2, 0, 2 + own, {0});
    t.put(RawKind::rma_win_def, 3, 0, 3 + own, {0});
    t.put(RawKind::rma_fence, 4, 0, 2 + own);
    t.put(RawKind::file_def, 5, 6, 1, {1 | uint64_t{3} << 32, 0x6e776f});  // "own"
    t.put(RawKind::file_def, 6, 7, 2, {0 | uint64_t{3} << 32, 0x6c6c61});  // "all"
    t.put(RawKind::file_close, 7, 0, 2);
  }
  play();
  for (const char* location : {"0.0", "1.0"}) {
    const std::string text = listing.text(location);
    EXPECT_NE(text.find("4   all on window 1: 0"), std::string::npos) << text;
    EXPECT_NE(text.find("6   collective 17 comm 0 root -1 bytes 0 0\n6   file 1 opened 7"),
              std::string::npos)
        << text;
    EXPECT_NE(text.find("7   collective 18 comm 0 root -1 bytes 0 0\n7   file 1 closed"),
              std::string::npos)
        << text;
  }
  EXPECT_NE(listing.text("1.0").find("1   window 3 created"), std::string::npos);
  EXPECT_NE(listing.text("1.0").find("5   file 2 opened 6"), std::string::npos);
  ASSERT_EQ(listing.definitions.windows.size(), 4u);
  EXPECT_EQ(listing.definitions.windows[1].comm, CommId(0));
  EXPECT_EQ(listing.definitions.windows[3].comm, CommId(1));
  ASSERT_EQ(listing.definitions.files.size(), 3u);
  EXPECT_EQ(listing.definitions.files[1].name, "all");
  EXPECT_EQ(listing.definitions.files[1].paradigm, "MPI-IO");
  EXPECT_EQ(listing.definitions.files[2].name, "own");
}

TEST_F(AssembleTest, TransfersFromBeginToEnd) {
  namespace flag = trace::raw_file_op;
  constexpr uint16_t kSplit = flag::kCollective | flag::kSplit;
  constexpr uint16_t kIwriteAll = flag::kWrite | flag::kCollective | flag::kRequest;
  {
    auto p = process();
    p->rank(0, 1).ended(90);
    p->thread(0)
        .put(RawKind::file_def, 1, 3, 1, {0})
        .put(RawKind::file_op, 2, 0, 1, {100})
        .put(RawKind::file_op_done, 3, 0, 1, {60})
        .put(RawKind::file_op, 4, flag::kWrite | flag::kCollective, 1, {10})
        .put(RawKind::file_op_done, 5, flag::kWrite | flag::kCollective, 1, {10})
        .put(RawKind::file_op, 6, kSplit, 1, {20})
        .put(RawKind::file_op_issued, 7, kSplit, 1)
        .put(RawKind::file_op, 8, kIwriteAll, 1, {30, 5})
        .put(RawKind::file_op_issued, 9, kIwriteAll, 1, {5})
        .put(RawKind::file_op, 10, flag::kFlush | flag::kCollective, 1, {0})
        .put(RawKind::file_op_done, 11, flag::kFlush | flag::kCollective, 1, {0})
        .put(RawKind::file_op_done, 12, kIwriteAll, 1, {30, 5})
        .put(RawKind::file_op_done, 13, kSplit, 1, {20})
        .put(RawKind::file_op_done, 14, kSplit, 1, {20});  // begun by nobody
  }
  const RunFacts facts = play();
  EXPECT_TRUE(facts.losses.all().empty());
  EXPECT_EQ(listing.text("0.0"), R"(0 main
1   collective 17 comm 0 root -1 bytes 0 0
1   file 0 opened 3
2   read file 0 bytes 100 id own 0
3   file 0 done own 0 bytes 60
4   write file 0 bytes 10 id own 1 all
5   collective 20 comm 0 root -1 bytes 0 0
5   file 0 done own 1 bytes 10
6   read file 0 bytes 20 id own 2 all begun
6   icoll_request own 2
7   file 0 issued own 2
8   write file 0 bytes 30 id 5 all begun
8   icoll_request 5
9   file 0 issued 5
10   flush file 0 bytes 0 id own 3 all
11   collective 20 comm 0 root -1 bytes 0 0
11   file 0 done own 3 bytes 0
12   icoll 5 collective 20 comm 0 root -1 bytes 0 0
12   file 0 done 5 bytes 30
13   icoll own 2 collective 20 comm 0 root -1 bytes 0 0
13   file 0 done own 2 bytes 20
90 -
)");
}

TEST_F(AssembleTest, WindowsOfUnknownCommunicatorsAreCounted) {
  {
    auto p = process();
    p->rank(0, 1).ended(50);
    p->thread(0)
        .put(RawKind::rma_win_def, 1, 0, 1, {7})
        .put(RawKind::rma_op, 2, kPut, 1, {0, 8, 0})
        .put(RawKind::file_op, 3, 0, 9, {1});
  }
  const RunFacts facts = play();
  EXPECT_EQ(losses(facts, "operations_on_unknown_windows"), 2u);
  EXPECT_EQ(losses(facts, "operations_on_unknown_files"), 1u);
}

}  // namespace
}  // namespace culprit::assemble::test
