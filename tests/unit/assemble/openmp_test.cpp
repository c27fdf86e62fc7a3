// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// OpenMP records as runtimes really deliver them: late, by the wrong name, or not at all.
#include "openmp_fixture.h"

namespace culprit::assemble::test {
namespace {

using trace::RawKind;

TEST_F(OpenmpTest, OverdueEndsMoveBackToWhenTheMasterLeft) {
  master.fork(10, 1, in_main({}), fork_code).begin(11, 1, 2, 0).sync(20, kRegionEnd, 1);
  master.sync_end(30, kRegionEnd, 1).end(31, 1).join(32, 1);
  master.fork(60, 2, in_main({}), fork_code).begin(61, 2, 2, 0).sync(70, kRegionEnd, 2);
  master.sync_end(80, kRegionEnd, 2).end(81, 2).join(82, 2);
  // The worker hears of the first end when the second region begins, and of that at shutdown, from
  // a runtime that has forgotten which region it was.
  worker.begin(12, 1, 2, 1).sync(25, kRegionEnd, 1);
  worker.sync_end(62, kRegionEnd, 0).end(62, 0).begin(63, 2, 2, 1).sync(75, kRegionEnd, 2);
  worker.sync_end(99, kRegionEnd, 0).end(99, 2).put(RawKind::omp_thread_end, 99);
  play_all();
  EXPECT_EQ(listing.text(), R"(0.0
0 main
10   fork 1 of 2
11   team 1
11   !$omp parallel @app.c:42
20     !$omp implicit barrier @app.c:42
30     -
31   -
31   team end
32   join
60   fork 2 of 2
61   team 2
61   !$omp parallel @app.c:42
70     !$omp implicit barrier @app.c:42
80     -
81   -
81   team end
82   join
100 -
0.1
12 team 1
12 !$omp parallel @app.c:42
25   !$omp implicit barrier @app.c:42
32   -
32 -
32 team end
63 team 2
63 !$omp parallel @app.c:42
75   !$omp implicit barrier @app.c:42
82   -
82 -
82 team end
)");
}

/// A runtime's thread that waits actively is seen using the kernel while it waits for its next
/// team.
TEST_F(OpenmpTest, OverdueEndsMoveBackPastWhatAWaitingThreadDoesMeanwhile) {
  constexpr uint64_t kSystemNs = 5;
  master.fork(10, 1, in_main({}), fork_code).begin(11, 1, 2, 0).sync(20, kRegionEnd, 1);
  master.sync_end(30, kRegionEnd, 1).end(31, 1).join(32, 1);
  master.fork(60, 2, in_main({}), fork_code).begin(61, 2, 2, 0).end(81, 2).join(82, 2);
  worker.begin(12, 1, 2, 1).sync(25, kRegionEnd, 1).sample(28, {});
  worker.put(RawKind::kernel_use, 28, 0, 0, {kSystemNs}).sample(50, {});
  worker.put(RawKind::kernel_use, 50, 0, 0, {kSystemNs});
  worker.sync_end(62, kRegionEnd, 0).end(62, 0).begin(63, 2, 2, 1).sync(75, kRegionEnd, 2);
  play_all();
  EXPECT_EQ(listing.text("0.1"), R"(12 team 1
12 !$omp parallel @app.c:42
25   !$omp implicit barrier @app.c:42
28     system_time 5
32   -
32 -
32 team end
63 team 2
63 !$omp parallel @app.c:42
75   !$omp implicit barrier @app.c:42
82   -
82 -
82 team end
)");
}

TEST_F(OpenmpTest, ATeamOfOneMayBeNotedInTheBeginOfItsRegionAndEndWithIt) {
  master.fork(10, 1, in_main({}), fork_code).begin(11, 1, 1, 0).end(31, 1).join(31, 1);
  const uint32_t path = master.path(in_main({}));
  constexpr uint64_t kAfter = 1;
  master.put(RawKind::omp_parallel_begin, 60, 0, path, {2, fork_code, kAfter}).join(81, 2);
  play_all();
  EXPECT_EQ(listing.text("0.0"), R"(0 main
10   fork 1 of 1
11   team 1
11   !$omp parallel @app.c:42
31   -
31   team end
31   join
60   fork 2 of 1
61   team 2
61   !$omp parallel @app.c:42
81   -
81   team end
81   join
100 -
)");
}

TEST_F(OpenmpTest, EndsThatNeverCameAreMadeUp) {
  master.fork(10, 1, in_main({}), fork_code).begin(11, 1, 2, 0).end(31, 1).join(32, 1);
  master.fork(60, 2, in_main({}), fork_code).begin(61, 2, 2, 0);
  worker.begin(12, 1, 2, 1).sync(25, kRegionEnd, 1).begin(63, 2, 2, 1);
  p->process.ended = 0;
  p->process.last = p->process.first;
  play_all();
  EXPECT_EQ(listing.text("0.1"), R"(12 team 1
12 !$omp parallel @app.c:42
25   !$omp implicit barrier @app.c:42
32   -
32 -
32 team end
63 team 2
63 !$omp parallel @app.c:42
63 -
63 team end
)");
  EXPECT_EQ(listing.text("0.0"), R"(0 main
10   fork 1 of 2
11   team 1
11   !$omp parallel @app.c:42
31   -
31   team end
32   join
60   fork 2 of 2
61   team 2
61   !$omp parallel @app.c:42
63   -
63   team end
63   join
63 -
)");
}

TEST_F(OpenmpTest, BarriersWithoutNamesAreToldApartByWhatFollows) {
  const uint64_t barrier = code.at("main.omp_outlined", 50);
  master.fork(10, 1, in_main({}), fork_code).begin(11, 1, 1, 0);
  master.sync(20, kImplementation, 1, barrier).sync_end(22, kImplementation, 1);
  master.sync(30, kImplementation, 1, barrier).sync_end(32, kImplementation, 1);
  master.end(33, 1).join(34, 1);
  worker.begin(12, 1, 2, 1);
  worker.sync(20, kImplementation, 1, barrier).sync_end(22, kImplementation, 1);
  worker.sync(29, kImplementation, 1);  // its end is not told any more
  play_all();
  const std::string barriers = R"(20   !$omp barrier @app.c:50
22   -
29   !$omp implicit barrier @app.c:42
34   -
34 -
34 team end
)";
  EXPECT_NE(listing.text("0.1").find(barriers), std::string::npos) << listing.text("0.1");
  EXPECT_NE(listing.text("0.0").find("30     !$omp implicit barrier @app.c:42\n"),
            std::string::npos);
}

TEST_F(OpenmpTest, OnlyTheWholeOfABarrierIsARegion) {
  master.fork(10, 1, in_main({}), fork_code).begin(11, 1, 1, 0);
  master.sync(20, kExplicit, 1).put(RawKind::omp_wait_begin, 21, kExplicit, 0, {0, 1});
  master.put(RawKind::omp_wait_end, 24, kExplicit, 0, {0, 1}).sync_end(25, kExplicit, 1);
  master.put(RawKind::omp_wait_begin, 26, kExplicit, 0, {0, 1});  // from a runtime with waits only
  master.put(RawKind::omp_wait_end, 27, kExplicit, 0, {0, 1}).end(28, 1).join(29, 1);
  play_all();
  EXPECT_EQ(listing.text("0.0"), R"(0 main
10   fork 1 of 1
11   team 1
11   !$omp parallel @app.c:42
20     !$omp barrier @app.c:42
25     -
26     !$omp barrier @app.c:42
27     -
28   -
28   team end
29   join
100 -
)");
}

TEST_F(OpenmpTest, ASingleThatNeverEndsEndsAtTheNextBarrierOrWorksharing) {
  const uint64_t there = code.at("main.omp_outlined", 7);
  master.fork(10, 1, in_main({}), fork_code).begin(11, 1, 1, 0);
  master.put(RawKind::omp_work_begin, 12, kSingle, 0, {there});
  master.put(RawKind::omp_work_begin, 14, kSingleOther, 0, {there});
  master.put(RawKind::omp_work_begin, 16, kLoop, 0, {there}).put(RawKind::omp_work_end, 18, kLoop);
  master.put(RawKind::omp_work_begin, 19, kSections, 0, {there});
  master.sync(20, kExplicit, 1).sync_end(21, kExplicit, 1).end(28, 1).join(29, 1);
  play_all();
  EXPECT_EQ(listing.text("0.0"), R"(0 main
10   fork 1 of 1
11   team 1
11   !$omp parallel @app.c:42
12     !$omp single @app.c:7
16     -
16     !$omp for @app.c:7
18     -
19     !$omp sections @app.c:7
20     -
20     !$omp barrier @app.c:42
21     -
28   -
28   team end
29   join
100 -
)");
}

TEST_F(OpenmpTest, ABarrierWithoutAPlaceBelongsToTheWorksharingBeforeIt) {
  master.fork(10, 1, in_main({}), fork_code).begin(11, 1, 1, 0);
  master.put(RawKind::omp_work_begin, 12, kLoop, 0, {code.at("main.omp_outlined", 7)});
  master.put(RawKind::omp_work_end, 18, kLoop).sync(18, kImplementation, 1);
  master.sync_end(19, kImplementation, 1).sync(20, kImplementation, 1);
  master.sync_end(21, kImplementation, 1).end(28, 1).join(29, 1);
  play_all();
  EXPECT_NE(listing.text("0.0").find(R"(12     !$omp for @app.c:7
18     -
18     !$omp implicit barrier @app.c:7
19     -
20     !$omp implicit barrier @app.c:42
21     -
)"),
            std::string::npos)
      << listing.text("0.0");
}

TEST_F(OpenmpTest, LoopsTellHowTheyWereShared) {
  constexpr uint16_t kDynamic = 11;
  const uint64_t there = code.at("main.omp_outlined", 7);
  master.fork(10, 1, in_main({}), fork_code).begin(11, 1, 1, 0);
  master.put(RawKind::omp_work_begin, 12, kDynamic, 0, {there, 100});
  master.put(RawKind::omp_work_end, 18, kDynamic, 0, {3, 30}).end(28, 1).join(29, 1);
  play_all();
  EXPECT_NE(listing.text("0.0").find(R"(12     !$omp for @app.c:7
12       schedule 2
12       iterations 100
18       own_chunks 3
18       own_iterations 30
18     -
)"),
            std::string::npos)
      << listing.text("0.0");
}

TEST_F(OpenmpTest, ReductionsAndOffloadAreRegions) {
  constexpr uint16_t kTarget = 1, kCopyIn = 0x102, kSubmit = 0x200;
  const uint64_t there = code.at("main.omp_outlined", 7);
  master.put(RawKind::omp_target_begin, 10, kTarget, 2, {there, 0});
  master.put(RawKind::omp_target_begin, 11, kCopyIn, 2, {there, 4096});
  master.put(RawKind::omp_target_end, 13, kCopyIn);
  master.put(RawKind::omp_target_begin, 14, kSubmit, 0, {0, 8});
  master.put(RawKind::omp_target_end, 20, kSubmit).put(RawKind::omp_target_end, 22, kTarget);
  master.fork(30, 1, in_main({}), fork_code).begin(31, 1, 1, 0);
  master.put(RawKind::omp_reduction_begin, 33, 0, 0, {there});
  master.put(RawKind::omp_reduction_end, 35).sync(40, kRegionEnd, 1);
  master.put(RawKind::omp_reduction_begin, 41, 0, 0, {there}).put(RawKind::omp_reduction_end, 42);
  master.put(RawKind::omp_cancel, 43, 0x11, 0, {0});
  master.sync_end(44, kRegionEnd, 1).end(45, 1).join(46, 1);
  play_all();
  EXPECT_EQ(listing.text("0.0"), R"(0 main
10   !$omp target @app.c:7
10     target_device 2
11     !$omp target copy in @app.c:7
11       target_device 2
11       target_bytes 4096
13     -
14     !$omp target kernel
14       target_teams 8
20     -
22   -
30   fork 1 of 1
31   team 1
31   !$omp parallel @app.c:42
33     !$omp reduction @app.c:7
35     -
40     !$omp implicit barrier @app.c:42
43       cancel 17
44     -
45   -
45   team end
46   join
100 -
)");
}

TEST_F(OpenmpTest, FunctionsInABodyHangUnderTheConstruct) {
  master.fork(10, 1, in_main({"solve"}), fork_code).begin(11, 1, 2, 0);
  master.sample(15, in_main({"solve", "__kmp_fork_call", "main.omp_outlined", "kernel"}));
  master.sync(20, kRegionEnd, 1).sync_end(30, kRegionEnd, 1).end(31, 1).join(32, 1);
  worker.begin(12, 1, 2, 1).sample(16, in_body({"kernel"})).sample(18, in_body({}));
  worker.sync(22, kRegionEnd, 1);
  play_all();
  EXPECT_EQ(listing.text(), R"(0.0
0 main
10   solve
10     fork 1 of 2
11     team 1
11     !$omp parallel @app.c:42
13       kernel
17       -
20       !$omp implicit barrier @app.c:42
30       -
31     -
31     team end
32     join
32   -
100 -
0.1
12 team 1
12 !$omp parallel @app.c:42
14   kernel
17   -
22   !$omp implicit barrier @app.c:42
32   -
32 -
32 team end
)");
}

TEST_F(OpenmpTest, ABodyThatLeavesTheStackToItsLastCallHidesNoFunction) {
  const auto on_worker = [](std::vector<std::string> frames) {
    frames.insert(frames.begin(), {"libc:clone", "libc:start_thread", "__kmp_invoke_microtask"});
    return frames;
  };
  master.fork(10, 1, in_main({"solve"}), fork_code).begin(11, 1, 2, 0);
  master.sample(15, in_main({"solve", "__kmp_fork_call", "kernel"}));
  master.sync(20, kRegionEnd, 1).sync_end(30, kRegionEnd, 1).end(31, 1).join(32, 1);
  // Without a name it may be the body.
  worker.begin(12, 1, 2, 1).sample(16, on_worker({"kernel", "leaf"}));
  worker.sample(18, on_worker({"?12", "leaf"})).sync(22, kRegionEnd, 1);
  play_all();
  EXPECT_EQ(listing.text(), R"(0.0
0 main
10   solve
10     fork 1 of 2
11     team 1
11     !$omp parallel @app.c:42
13       kernel
17       -
20       !$omp implicit barrier @app.c:42
30       -
31     -
31     team end
32     join
32   -
100 -
0.1
12 team 1
12 !$omp parallel @app.c:42
14   kernel
14     leaf
17     -
17   -
17   leaf
20   -
22   !$omp implicit barrier @app.c:42
32   -
32 -
32 team end
)");
}

TEST_F(OpenmpTest, ThreadsAreNumberedAsInTheirTeam) {
  // The thread that began second is number 2 of the team, the third is number 1.
  RawThread& third = p->thread(2);
  master.fork(10, 1, in_main({}), fork_code).begin(11, 1, 3, 0).end(31, 1).join(32, 1);
  worker.begin(12, 1, 3, 2).end(31, 1);
  third.begin(13, 1, 3, 1).end(31, 1);
  play_all();
  const std::string text = listing.text();
  const size_t first = text.find("\n0.1\n13 "), second = text.find("\n0.2\n12 ");
  EXPECT_NE(first, std::string::npos) << text;
  EXPECT_NE(second, std::string::npos) << text;
}

TEST_F(OpenmpTest, RegionsNest) {
  master.fork(10, 1, in_main({}), fork_code).begin(11, 1, 2, 0);
  worker.begin(12, 1, 2, 1).fork(14, 2, in_body({}), code.at("inner", 9)).begin(15, 2, 1, 0);
  worker.end(17, 2).join(18, 2).sync(19, kRegionEnd, 1);
  master.end(30, 1).join(31, 1);
  play_all();
  EXPECT_EQ(listing.text("0.1"), R"(12 team 1
12 !$omp parallel @app.c:42
14   fork 2 of 1
15   team 2
15   !$omp parallel @app.c:9
17   -
17   team end
18   join
19   !$omp implicit barrier @app.c:42
31   -
31 -
31 team end
)");
}

TEST_F(OpenmpTest, EndsOfWhatNeverBeganAreIgnored) {
  master.end(10, 7).join(11, 7).sync_end(12, kExplicit, 7);
  master.put(RawKind::omp_work_end, 13, kLoop).put(RawKind::omp_masked_end, 14);
  master.put(RawKind::omp_mutex_released, 15, kLock, 0, {1, 0});
  master.put(RawKind::omp_task_switch, 16, kComplete, 0, {0, 9});
  master.begin(17, 0, 1, 0).end(18, 0);
  play_all();
  EXPECT_EQ(listing.text("0.0"),
            "0 main\n15   released 1\n16   task 1.9 complete\n16   to task 0.0\n100 -\n");
}

}  // namespace
}  // namespace culprit::assemble::test
