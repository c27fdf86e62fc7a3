// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// MPI records and the user's functions around them.

#include "fixture.h"

namespace culprit::assemble::test {
namespace {

using trace::RawKind;

TEST_F(AssembleTest, CallsLieInTheFunctionsThatMadeThem) {
  {
    auto p = process();
    p->rank(0, 1).ended(100);
    p->thread(0)
        .enter(10, "MPI_Send", in_main({"step", "exchange"}))
        .send(12, 0, 8)
        .leave(20, "MPI_Send")
        .enter(30, "MPI_Recv", in_main({"step", "exchange"}))
        .recv(38, 0, 8)
        .leave(40, "MPI_Recv")
        .enter(60, "MPI_Barrier", in_main({"step"}))
        .put(RawKind::mpi_collective, 69, 0, 0, {~uint64_t{0}, 0, 0})
        .leave(70, "MPI_Barrier");
  }
  play();
  // Between two calls time belongs to the functions that both saw.
  EXPECT_EQ(listing.text(), R"(0.0
0 main
10   step
10     exchange
10       MPI_Send
12         send 0 tag 7 bytes 8 comm 0
20       -
30       MPI_Recv
38         recv 0 tag 7 bytes 8 comm 0
40       -
40     -
60     MPI_Barrier
69       collective 0 comm 0 root -1 bytes 0 0
70     -
70   -
100 -
)");
}

TEST_F(AssembleTest, SamplesSpeakForTheTimeHalfwayToTheirNeighbours) {
  {
    auto p = process();
    p->rank(0, 1).ended(200);
    p->thread(0)
        .sample(20, in_main({"init"}))
        .sample(40, in_main({"compute", "kernel", "libc:memcpy"}))
        .sample(60, in_main({"compute", "kernel"}))
        .enter(100, "MPI_Send", in_main({"exchange"}))
        .sample(110, in_main({"exchange", "copy"}))  // inside MPI: says nothing
        .leave(120, "MPI_Send");
  }
  play();
  EXPECT_EQ(listing.text(), R"(0.0
0 main
10   init
30   -
30   compute
30     kernel
30       (in memcpy)
50       -
80     -
80   -
80   exchange
100     MPI_Send
120     -
120   -
200 -
)");
}

TEST_F(AssembleTest, RequestsAndCollectivesKeepTheirFacts) {
  {
    auto p = process();
    p->rank(0, 3).ended(50);
    p->thread(0)
        .enter(1, "MPI_Isend", in_main({}))
        .put(RawKind::mpi_isend, 2, 0, 0, {1 | uint64_t{5} << 32, 64, 11, 0})
        .leave(3, "MPI_Isend")
        .enter(4, "MPI_Irecv", in_main({}))
        .put(RawKind::mpi_irecv_post, 5, 0, 0, {12, 2, 0})
        .leave(6, "MPI_Irecv")
        .enter(7, "MPI_Waitall", in_main({}))
        .put(RawKind::mpi_isend_done, 8, 0, 0, {11})
        .put(RawKind::mpi_irecv, 8, 0, 0, {2 | uint64_t{5} << 32, 32, 12})
        .leave(9, "MPI_Waitall")
        .enter(10, "MPI_Bcast", in_main({}))
        .put(RawKind::mpi_collective, 11, 1, 0, {2, 100, 200})
        .leave(12, "MPI_Bcast")
        .put(RawKind::mpi_icoll_post, 13, 11, 0, {13, 0})
        .put(RawKind::mpi_icoll, 14, 11, 0, {~uint64_t{0}, 1, 2, 13})
        .put(RawKind::mpi_cancelled, 15, 0, 0, {12});
  }
  play();
  EXPECT_EQ(listing.text("0.0"), R"(0 main
1   MPI_Isend
2     isend 11 1 tag 5 bytes 64 comm 0
3   -
4   MPI_Irecv
5     irecv_request 12
6   -
7   MPI_Waitall
8     isend_complete 11
8     irecv 12 2 tag 5 bytes 32 comm 0
9   -
10   MPI_Bcast
11     collective 1 comm 0 root 2 bytes 100 200
12   -
13   icoll_request 13
14   icoll 13 collective 11 comm 0 root -1 bytes 1 2
15   cancelled 12
50 -
)");
}

TEST_F(AssembleTest, RanksThatThereAreNotAreDamage) {
  {
    auto p = process();
    p->rank(0, 1).ended(50);
    p->thread(0)
        .put(RawKind::mpi_send, 2, 0, 0, {0 | uint64_t{5} << 32, 64, 0})
        .put(RawKind::mpi_send, 3, 0, 0, {1 | uint64_t{5} << 32, 64, 0})
        .put(RawKind::mpi_recv, 4, 0, 0, {0xffffffff | uint64_t{5} << 32, 64, 0})
        .put(RawKind::mpi_collective, 5, 1, 0, {1, 100, 200})
        .put(RawKind::rma_win_def, 6, 1, 4, {0})
        .put(RawKind::rma_op, 7, 0, 4, {1, 8, 0});
  }
  const RunFacts facts = play();
  EXPECT_EQ(losses(facts, "records_of_unknown_communicators"), 1u) << "MPI_PROC_NULL is none";
  EXPECT_EQ(losses(facts, "records_of_unknown_windows_and_files"), 1u);
  EXPECT_EQ(listing.text("0.0"), R"(0 main
2   send 0 tag 5 bytes 64 comm 0
5   collective 1 comm 0 root -1 bytes 100 200
6   window 0 created
6   all on window 0: 17 assertions 0
50 -
)");
}

TEST_F(AssembleTest, CoalescedTestsThatMostlyPollAreOneCall) {
  {
    auto p = process();
    p->rank(0, 1).ended(30000);
    auto& t = p->thread(0);
    t.enter(1, "MPI_Test", in_main({"poll"})).leave(2, "MPI_Test");
    const uint32_t path = t.path(in_main({"poll"}));
    t.put(RawKind::mpi_tests, 10, 1, path, {kTicksAtZero + 110, 50, 90});
    t.put(RawKind::mpi_tests, 200, 1, path, {kTicksAtZero + 10200, 2, 20});
    t.put(RawKind::mpi_tests, 20000, 1, path, {kTicksAtZero + 24000, 20, 1000});
  }
  play();
  // The second stretch is mostly work between two tests: only the tests' own time is MPI's.
  // The third has next to nothing between tests but what records them.
  EXPECT_EQ(listing.text("0.0"), R"(0 main
1   poll
1     MPI_Test
2     -
10     MPI_Test
110     -
10180     MPI_Test
10200     -
20000     MPI_Test
24000     -
24000   -
30000 -
)");
}

TEST_F(AssembleTest, ASampleWithinASleepDoesNotShortenIt) {
  {
    auto p = process();
    p->rank(0, 1).ended(30000);
    auto& t = p->thread(0);
    t.enter(1000, "MPI_Barrier", in_main({"solve"})).leave(2000, "MPI_Barrier");
    // Written after the sample, and therefore not before its time.
    t.sample(8900, in_main({"late"}));
    const uint32_t late = t.path(in_main({"late"}));
    t.put(RawKind::blocked, 8900, 0, late, {kTicksAtZero + 9000, 0, kTicksAtZero + 2100});
    t.enter(9100, "MPI_Barrier", in_main({"solve"})).leave(9200, "MPI_Barrier");
  }
  play();
  EXPECT_EQ(listing.text("0.0"), R"(0 main
1000   solve
1000     MPI_Barrier
2000     -
2000   -
2100   late
9000   -
9100   solve
9100     MPI_Barrier
9200     -
9200   -
30000 -
)");
}

TEST_F(AssembleTest, TestsByFunctionsInTurnShareTheTime) {
  {
    auto p = process();
    p->rank(0, 1).ended(30000);
    auto& t = p->thread(0);
    t.enter(1, "MPI_Test", in_main({"poll"})).leave(2, "MPI_Test");
    t.enter(3, "MPI_Testany", in_main({"drain"})).leave(4, "MPI_Testany");
    const uint64_t drain = uint64_t{t.path(in_main({"drain"}))} << 32;
    const uint32_t poll = t.path(in_main({"poll"}));
    t.put(RawKind::mpi_tests, 10, 1, poll, {kTicksAtZero + 110, 50, 90, drain | 2, 60});
    // A process that was ended before it had noted who else asked; more time than there is.
    t.put(RawKind::mpi_tests, 200, 1, poll, {kTicksAtZero + 300, 50, 90, 0, 0});
    t.put(RawKind::mpi_tests, 400, 1, poll, {kTicksAtZero + 500, 50, 90, drain | 2, 120});
  }
  play();
  EXPECT_EQ(listing.text("0.0"), R"(0 main
1   poll
1     MPI_Test
2     -
2   -
3   drain
3     MPI_Testany
4     -
4   -
10   poll
10     MPI_Test
43     -
43   -
43   drain
43     MPI_Testany
110     -
110   -
200   poll
200     MPI_Test
300     -
400     MPI_Test
400     -
400   -
400   drain
400     MPI_Testany
500     -
500   -
30000 -
)");
}

TEST_F(AssembleTest, KilledProgramIsInItsLastCallUntilTheLastOneIsHeardOf) {
  {
    auto first = process("node1.1.a");
    first->rank(0, 2);
    first->process.finalized = 0;
    first->process.last = first->process.first;
    first->thread(0).enter(10, "MPI_Recv", in_main({}));
    first->thread(1).put(RawKind::omp_thread_begin, 90);
    auto second = process("node1.2.b");
    second->rank(1, 2);
    second->process.finalized = 0;
    second->thread(0).enter(10, "MPI_Abort", in_main({}));
  }
  const RunFacts facts = play();
  EXPECT_EQ(listing.text("0.0"), "0 main\n10   MPI_Recv\n90   -\n90 -\n");
  EXPECT_EQ(losses(facts, "early_ends"), 2u);
  ASSERT_FALSE(facts.notes.empty());
}

TEST_F(AssembleTest, FortranProgramsBeginAtTheUsersProgram) {
  {
    auto p = process();
    p->rank(0, 1).ended(30);
    p->thread(0).enter(10, "MPI_Send", in_main({"MAIN__", "solve"})).leave(20, "MPI_Send");
  }
  play();
  EXPECT_EQ(listing.text("0.0"), "0 MAIN__\n10   solve\n10     MPI_Send\n20     -\n20   -\n30 -\n");
}

TEST_F(AssembleTest, StrippedProgramsHaveAMainAndFunctionsByOffset) {
  {
    auto p = process();
    p->rank(0, 1).ended(30);
    p->thread(0)
        .enter(10, "MPI_Send", {"?0x10", "libc:__libc_start_main", "?0x20", "?0x30"})
        .leave(20, "MPI_Send");
  }
  play();
  EXPECT_EQ(listing.text("0.0"),
            "0 main\n10   app+0x30\n10     MPI_Send\n20     -\n20   -\n30 -\n");
}

TEST_F(AssembleTest, TheCollectorsOwnTimeIsShownAsSuch) {
  {
    auto p = process();
    p->rank(0, 1).ended(100);
    p->process.event_cost_ps = 1000;
    p->thread(0)
        .enter(10, "MPI_Send", in_main({}))
        .put(RawKind::tool_begin, 12)
        .put(RawKind::tool_end, 18)
        .leave(20, "MPI_Send");
  }
  const RunFacts facts = play();
  EXPECT_EQ(listing.text("0.0"),
            "0 main\n10   MPI_Send\n12     culprit measuring\n18     -\n20   -\n100 -\n");
  // Six ns between tool_begin and tool_end, and one for each of eight records, of a hundred.
  EXPECT_DOUBLE_EQ(facts.overhead_pct, 14);
}

}  // namespace
}  // namespace culprit::assemble::test
