// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What the program tells of itself: its regions, its functions, and when recording was off.

#include "fixture.h"

namespace culprit::assemble::test {
namespace {

using trace::RawKind;
using trace::RawUserRegion;

class UserTest : public AssembleTest {
 protected:
  uint64_t entry(std::string_view function) { return code.at(function, 0) - 1; }
  void call(RawThread& thread, uint64_t time, std::string_view function, std::string_view caller,
            uint32_t frame) {
    thread.put(RawKind::func_enter, time, 0, frame, {entry(function), code.at(caller)});
  }
  void back(RawThread& thread, uint64_t time, std::string_view function) {
    thread.put(RawKind::func_leave, time, 0, 0, {entry(function)});
  }
};

TEST_F(UserTest, NamesBecomeTextInUtf8) {
  {
    auto p = process();
    p->rank(0, 1).ended(100);
    p->thread(0)
        .begin_user(10, RawUserRegion::region,
                    "gr\xf6\xdf"
                    "er",
                    in_main({"run"}))
        .begin_user(20, RawUserRegion::region, "", in_main({"run"}))
        .end_user(30, RawUserRegion::region, "")
        .end_user(40, RawUserRegion::region,
                  "gr\xf6\xdf"
                  "er");
  }
  play();
  EXPECT_EQ(listing.text("0.0"), R"(0 main
10   run
10     gr\xf6\xdfer
20       (unnamed)
30       -
40     -
40   -
100 -
)");
}

TEST_F(UserTest, RegionsHangUnderTheFunctionThatBeginsThem) {
  {
    auto p = process();
    p->rank(0, 1).ended(100);
    p->thread(0)
        .begin_user(10, RawUserRegion::phase, "solve", in_main({"run"}))
        .begin_user(20, RawUserRegion::iteration, "step", in_main({"run"}), 7)
        .begin_user(30, RawUserRegion::region, "a/b", in_main({"run", "work"}))
        .sample(40, in_main({"run", "work", "inner"}))
        .end_user(50, RawUserRegion::region, "a/b")
        .end_user(60, RawUserRegion::iteration, "step")
        .end_user(70, RawUserRegion::phase, "solve")
        .end_user(80, RawUserRegion::phase, "solve");
  }
  const RunFacts facts = play();
  EXPECT_EQ(listing.text("0.0"), R"(0 main
10   run
10     solve
20       step
20         iteration 7
30         work
30           a|b
35             inner
45             -
50           -
50         -
60       -
70     -
70   -
100 -
)");
  EXPECT_EQ(losses(facts, "user_regions_without_begin"), 1u);
  for (const trace::Region& region : listing.definitions.regions) {
    if (region.name == "solve") {
      EXPECT_EQ(region.role, trace::RegionRole::phase);
    }
    if (region.name == "step") {
      EXPECT_EQ(region.role, trace::RegionRole::iteration);
    }
    if (region.name == "a|b") {
      EXPECT_EQ(region.role, trace::RegionRole::code);
    }
  }
}

TEST_F(UserTest, AFunctionIsOnceOnThePathHoweverItIsKnown) {
  {
    auto p = process();
    p->rank(0, 1).ended(100);
    RawThread& thread = p->thread(0);
    thread.enter(5, "MPI_Init", in_main({})).leave(6, "MPI_Init");
    call(thread, 10, "f", "main", 900);
    call(thread, 20, "f", "f", 800);
    thread.sample(30, in_main({"f", "f", "g"}));
    thread.enter(40, "MPI_Barrier", in_main({"f", "f", "h"})).leave(50, "MPI_Barrier");
    back(thread, 60, "f");
    back(thread, 70, "f");
    back(thread, 80, "main");
  }
  play();
  EXPECT_EQ(listing.text("0.0"), R"(0 main
5   MPI_Init
6   -
10   f
20     f
25       g
35       -
35       h
40         MPI_Barrier
50         -
50       -
60     -
70   -
100 -
)");
}

TEST_F(UserTest, FunctionsThatWereJumpedOverAreLeft) {
  {
    auto p = process();
    p->rank(0, 1).ended(100);
    RawThread& thread = p->thread(0);
    thread.enter(5, "MPI_Init", in_main({})).leave(6, "MPI_Init");
    call(thread, 10, "f", "main", 900);
    call(thread, 20, "g", "f", 800);
    call(thread, 30, "h", "g", 700);
    call(thread, 40, "i", "f", 800);  // g and h are gone: longjmp to f
    back(thread, 50, "i");
    back(thread, 60, "f");
  }
  play();
  // A sibling of g at the same depth cannot be told from a function inlined into it.
  EXPECT_EQ(listing.text("0.0"), R"(0 main
5   MPI_Init
6   -
10   f
20     g
30       h
40       -
40       i
50       -
60     -
60   -
100 -
)");
}

TEST_F(UserTest, ARegionBegunInAFunctionOutlivesIt) {
  {
    auto p = process();
    p->rank(0, 1).ended(100);
    RawThread& thread = p->thread(0);
    call(thread, 10, "start_timer", "main", 900);
    thread.begin_user(20, RawUserRegion::region, "work", in_main({"start_timer"}));
    back(thread, 30, "start_timer");
    call(thread, 50, "stop_timer", "main", 900);
    thread.end_user(60, RawUserRegion::region, "work");
    back(thread, 70, "stop_timer");
  }
  play();
  EXPECT_EQ(listing.text("0.0"), R"(0 main
10   start_timer
20     work
30     -
30   -
30   work
50     stop_timer
60     -
60   -
100 -
)");
}

TEST_F(UserTest, WhileRecordingIsOffMessagesRemain) {
  {
    auto p = process();
    p->rank(0, 2).ended(100);
    p->thread(0)
        .fork(10, 1, in_main({"run"}))
        .begin(12, 1, 2, 0)
        .put(RawKind::recording_off, 30, 0, 0, {kTicksAtZero + 20})
        .enter(40, "MPI_Send")
        .send(40, 1, 8)
        .leave(45, "MPI_Send")
        .put(RawKind::recording_on, 60, 0, 0, {kTicksAtZero + 60})
        .end(62, 1)
        .join(65, 1)
        .enter(70, "MPI_Recv", in_main({"run"}))
        .recv(75, 1, 8)
        .leave(75, "MPI_Recv");
    p->thread(1).begin(12, 1, 2, 1).sample(25, in_main({"run"})).end(62, 1);
    p->thread(2).begin(64, 2, 2, 1).end(66, 2);  // forked while recording was off
  }
  play();
  EXPECT_EQ(listing.text("0.0"), R"(0 main
10   run
10     fork 1 of 2
12     team 1
12     !$omp parallel
20     -
20     team end
20     join
20   -
20   recording off
20   (not recorded)
40   -
40   (not recorded)
40     send 1 tag 7 bytes 8 comm 0
45   -
45   (not recorded)
60   -
60   recording on
70   run
70     MPI_Recv
75       recv 1 tag 7 bytes 8 comm 0
75     -
75   -
100 -
)");
  EXPECT_EQ(listing.text("0.1"), R"(12 team 1
12 !$omp parallel
20 -
20 team end
20 recording off
20 (not recorded)
60 -
60 recording on
)");
  EXPECT_EQ(listing.text("0.2"), "");
}

TEST_F(UserTest, ACallThatBeginsWhileRecordingIsOffEndsThePause) {
  {
    auto p = process();
    p->rank(0, 2).ended(100);
    p->process.starts_off = 1;
    p->thread(0)
        .enter(10, "MPI_Recv")
        .put(RawKind::recording_on, 20, 0, 0, {kTicksAtZero + 20})
        .recv(30, 1, 8)
        .leave(30, "MPI_Recv")
        .enter(40, "MPI_Barrier", in_main({}))
        .leave(50, "MPI_Barrier")
        .put(RawKind::recording_off, 60, 0, 0, {kTicksAtZero + 60});
  }
  play();
  EXPECT_EQ(listing.text("0.0"), R"(0 main
0   recording off
0   (not recorded)
10   -
10   (not recorded)
30     recv 1 tag 7 bytes 8 comm 0
30   -
30   (not recorded)
30   -
30   recording on
40   MPI_Barrier
50   -
60   recording off
60   (not recorded)
100   -
100 -
)");
}

}  // namespace
}  // namespace culprit::assemble::test
