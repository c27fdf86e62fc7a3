// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// OpenMP records as runtimes really deliver them: late, by the wrong name, or not at all.

#include "fixture.h"

namespace culprit::assemble::test {
namespace {

using trace::RawKind;

// ompt_sync_region_t, ompt_work_t, ompt_mutex_t, ompt_task_status_t
constexpr uint16_t kExplicit = 3, kImplementation = 4, kTaskwait = 5, kTaskgroup = 6,
                   kRegionEnd = 9;
constexpr uint16_t kSections = 2, kSingle = 3, kSingleOther = 4, kLoop = 1;
constexpr uint16_t kLock = 1, kTestLock = 2, kCritical = 5;
constexpr uint16_t kComplete = 1, kSwitch = 7;

/// A body that the compiler outlined, as workers and masters see it.
std::vector<std::string> in_body(std::vector<std::string> functions) {
  functions.insert(functions.begin(), {"libc:start_thread", "__kmp_launch_worker",
                                       "__kmp_invoke_microtask", "main.omp_outlined"});
  return functions;
}

class OpenmpTest : public AssembleTest {
 protected:
  OpenmpTest() : p(process()), master(p->thread(0)), worker(p->thread(1)) { p->ended(100); }
  void play_all() {
    p.reset();
    play();
  }
  uint64_t fork_code = code.at("main", 42);
  std::unique_ptr<RawProcessBuilder> p;
  RawThread& master;
  RawThread& worker;
};

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

TEST_F(OpenmpTest, TasksNestOnTheThreadThatRunsThem) {
  const uint64_t there = code.at("main.omp_outlined", 7);
  master.fork(10, 1, in_main({}), fork_code).begin(11, 1, 2, 0);
  master.put(RawKind::omp_task_create, 12, 4, 0, {5, there});
  master.put(RawKind::omp_task_create, 12, 4, 0, {6, there});
  master.sync(13, kRegionEnd, 1);
  master.put(RawKind::omp_task_switch, 14, kSwitch, 0, {5, 0});
  master.sync(15, kTaskwait, 1, there);
  master.put(RawKind::omp_task_switch, 16, kSwitch, 0, {6, 5});
  master.put(RawKind::omp_task_switch, 18, kComplete, 0, {5, 6});
  master.sync_end(19, kTaskwait, 1);
  master.put(RawKind::omp_task_switch, 20, kComplete, 0, {0, 5});
  master.sync_end(22, kRegionEnd, 1).end(23, 1).join(24, 1);
  play_all();
  EXPECT_EQ(listing.text("0.0"), R"(0 main
10   fork 1 of 2
11   team 1
11   !$omp parallel @app.c:42
13     !$omp implicit barrier @app.c:42
14       !$omp task @app.c:7
15         !$omp taskwait @app.c:7
16           !$omp task @app.c:7
18           -
19         -
20       -
22     -
23   -
23   team end
24   join
100 -
)");
}

TEST_F(OpenmpTest, ATaskGroupWaitsOnlyAtItsEnd) {
  const uint64_t there = code.at("main.omp_outlined", 7);
  master.fork(10, 1, in_main({}), fork_code).begin(11, 1, 1, 0);
  master.sync(12, kTaskgroup, 1, there);
  master.put(RawKind::omp_wait_begin, 15, kTaskgroup, 0, {there, 1});
  master.put(RawKind::omp_wait_end, 18, kTaskgroup, 0, {there, 1});
  master.sync_end(19, kTaskgroup, 1).end(20, 1).join(21, 1);
  play_all();
  EXPECT_NE(listing.text("0.0").find(R"(12     !$omp taskgroup @app.c:7
15       !$omp end taskgroup @app.c:7
18       -
19     -
)"),
            std::string::npos)
      << listing.text("0.0");
}

TEST_F(OpenmpTest, WaitingForALockAndHoldingItAreTwoThings) {
  const uint64_t there = code.at("update", 7);
  master.put(RawKind::omp_mutex_acquire, 10, kCritical, 0, {77, there});
  master.put(RawKind::omp_mutex_acquired, 15, kCritical, 0, {77, there});
  master.put(RawKind::omp_mutex_released, 20, kCritical, 0, {77, there});
  master.put(RawKind::omp_mutex_acquire, 30, kLock, 0, {78, there});
  master.put(RawKind::omp_mutex_acquired, 33, kLock, 0, {78, there});
  master.put(RawKind::omp_mutex_acquire, 35, kTestLock, 0, {79, there});  // not to be had
  master.put(RawKind::omp_mutex_released, 38, kLock, 0, {78, there});
  play_all();
  EXPECT_EQ(listing.text("0.0"), R"(0 main
10   update
10     !$omp critical @app.c:7
15       acquired 77
15       !$omp critical body @app.c:7
20         released 77
20       -
20     -
30     omp_set_lock
33       acquired 78
33     -
35     omp_test_lock
35     -
38     released 78
38   -
100 -
)");
}

TEST_F(OpenmpTest, FailedTestsForALockTakeNoTime) {
  const uint64_t there = code.at("update", 7);
  master.put(RawKind::omp_mutex_acquire, 10, kTestLock, 0, {79, there});
  master.sample(15, in_main({"update", "think"}));
  master.enter(20, "MPI_Barrier", in_main({"update"})).leave(30, "MPI_Barrier");
  // From a runtime that calls a test an acquire.
  master.put(RawKind::omp_mutex_acquire, 40, kLock, 0, {79, there});
  master.put(RawKind::omp_mutex_acquire, 50, kLock, 0, {79, there});
  master.enter(60, "MPI_Barrier", in_main({"update"})).leave(70, "MPI_Barrier");
  master.put(RawKind::omp_mutex_acquire, 80, kTestLock, 0, {79, there});
  master.put(RawKind::omp_mutex_acquired, 81, kTestLock, 0, {79, there});
  master.put(RawKind::omp_mutex_acquire, 90, kLock, 0, {80, there});  // the last heard of it
  play_all();
  EXPECT_EQ(listing.text("0.0"), R"(0 main
10   update
10     omp_test_lock
10     -
12     think
17     -
20     MPI_Barrier
30     -
40     omp_set_lock
40     -
50     omp_set_lock
50     -
60     MPI_Barrier
70     -
80     omp_test_lock
81       acquired 79
81     -
90     omp_set_lock
100     -
100   -
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
  EXPECT_EQ(listing.text("0.0"), "0 main\n15   released 1\n100 -\n");
}

}  // namespace
}  // namespace culprit::assemble::test
