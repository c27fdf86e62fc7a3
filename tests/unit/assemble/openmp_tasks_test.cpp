// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// OpenMP's tasks and locks: whose work a task is, and who waits for a lock that somebody holds.
#include "openmp_fixture.h"

namespace culprit::assemble::test {
namespace {

using trace::RawKind;

TEST_F(OpenmpTest, TasksNestOnTheThreadThatRunsThem) {
  const uint64_t there = code.at("main.omp_outlined", 7);
  master.fork(10, 1, in_main({}), fork_code).begin(11, 1, 2, 0);
  master.put(RawKind::omp_task_create, 12, 0, kExplicitTask, {kFirst, there});
  master.put(RawKind::omp_task_create, 12, 0, kExplicitTask, {kSecond, there});
  master.sync(13, kRegionEnd, 1);
  master.put(RawKind::omp_task_switch, 14, kSwitch, 0, {kFirst, 0});
  master.sync(15, kTaskwait, 1, there);
  master.put(RawKind::omp_task_switch, 16, kSwitch, 0, {kSecond, kFirst});
  master.put(RawKind::omp_task_switch, 18, kComplete, 0, {kFirst, kSecond});
  master.sync_end(19, kTaskwait, 1);
  master.put(RawKind::omp_task_switch, 20, kComplete, 0, {0, kFirst});
  master.sync_end(22, kRegionEnd, 1).end(23, 1).join(24, 1);
  play_all();
  EXPECT_EQ(listing.text("0.0"), R"(0 main
10   fork 1 of 2
11   team 1
11   !$omp parallel @app.c:42
12     create task 0.1
12     task_flags 4
12     create task 0.2
12     task_flags 4
13     !$omp implicit barrier @app.c:42
14       to task 0.1
14       !$omp task @app.c:7
15         !$omp taskwait @app.c:7
16           to task 0.2
16           !$omp task @app.c:7
18           -
18           task 0.2 complete
18           to task 0.1
19         -
20       -
20       task 0.1 complete
20       to task 0.0
22     -
23   -
23   team end
24   join
100 -
)");
}

TEST_F(OpenmpTest, TasksAreCalledByTheThreadThatCreatedThem) {
  constexpr uint16_t kDetach = 4, kLateFulfill = 6;
  constexpr uint64_t kIn = 1, kOut = 2, kAddress = 0x1000;
  const uint64_t there = code.at("main.omp_outlined", 7);
  master.fork(10, 1, in_main({}), fork_code).begin(11, 1, 2, 0);
  worker.begin(12, 1, 2, 1).put(RawKind::omp_task_create, 13, 0, kExplicitTask, {kFirst, there});
  worker.put(RawKind::omp_task_depends, 13, 0, 0, {kFirst, kAddress, kOut});
  worker.put(RawKind::omp_task_create, 14, 0, kExplicitTask, {kSecond, there});
  worker.put(RawKind::omp_task_depends, 14, 0, 0, {kSecond, kAddress, kIn, kAddress + 8, kOut});
  worker.put(RawKind::omp_task_edge, 14, 0, 0, {kFirst, kSecond});
  // The master runs the first, which is detached: it ends when its event comes, on the worker.
  master.put(RawKind::omp_task_switch, 15, kSwitch, 0, {kFirst, 0});
  master.put(RawKind::omp_task_switch, 16, kDetach, 0, {0, kFirst});
  worker.put(RawKind::omp_task_fulfilled, 18, kLateFulfill, 0, {kFirst});
  // A task of whose creation nothing is known.
  master.put(RawKind::omp_task_switch, 19, kSwitch, 0, {kFirst + (uint64_t{1} << 40), 0});
  master.put(RawKind::omp_task_switch, 20, kComplete, 0, {0, kFirst + (uint64_t{1} << 40)});
  master.end(30, 1).join(31, 1);
  play_all();
  EXPECT_EQ(listing.text(), R"(0.0
0 main
10   fork 1 of 2
11   team 1
11   !$omp parallel @app.c:42
15     to task 1.1
15     !$omp task @app.c:7
16     -
16     to task 0.0
19     to task 8.1
19     !$omp task
20     -
20     task 8.1 complete
20     to task 0.0
30   -
30   team end
31   join
100 -
0.1
12 team 1
12 !$omp parallel @app.c:42
13   create task 1.1
13   task_flags 4
13   depend_out 4096
14   create task 1.2
14   task_flags 4
14   depend_in 4096
14   depend_out 4104
14   task_successor 4294967298
14   task_predecessor 4294967297
18   task_fulfilled 4294967297
18   task 1.1 complete
31 -
31 team end
)");
}

TEST_F(OpenmpTest, TheHolderOfANestLockDoesNotWaitForIt) {
  constexpr uint16_t kNestLock = 3, kTestNestLock = 4, kMore = 1, kLess = 2;
  const uint64_t there = code.at("update", 7);
  master.put(RawKind::omp_lock_init, 5, kNestLock, 0, {77, there});
  master.put(RawKind::omp_mutex_acquire, 10, kNestLock, 0, {77, there});
  master.put(RawKind::omp_mutex_acquired, 15, kNestLock, 0, {77, there});
  master.put(RawKind::omp_mutex_acquire, 20, kTestNestLock, 0, {77, there});
  master.put(RawKind::omp_nest_lock, 21, kMore, 0, {77, there});
  master.put(RawKind::omp_nest_lock, 30, kLess, 0, {77, there});
  master.put(RawKind::omp_mutex_released, 31, kNestLock, 0, {77, there});
  master.put(RawKind::omp_lock_destroy, 35, kNestLock, 0, {77, there});
  play_all();
  EXPECT_EQ(listing.text("0.0"), R"(0 main
5   lock_init 77
10   update
10     omp_set_nest_lock
15       acquired 77
15     -
20     omp_test_nest_lock
21       nested_acquire 77
21     -
30     nested_release 77
31     released 77
35     lock_destroy 77
35   -
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

}  // namespace
}  // namespace culprit::assemble::test
