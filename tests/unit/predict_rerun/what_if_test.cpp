// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Drawn runs with a change, and how long they take then; each answer is worked out by hand.
#include "predict/rerun/what_if.h"

#include <gtest/gtest.h>

#include "trace/text/text.h"

namespace culprit::predict {
namespace {

Result<Prediction> predict(const char* picture, const Scenario& scenario) {
  const auto trace = trace::TextTrace::parse(picture);
  EXPECT_TRUE(trace.ok());
  return what_if(**trace, scenario, 1, {});
}

/// What the run takes by executing it again, and by analysing what comes out, is the same.
void expect_wall(const char* picture, const Scenario& scenario, double wall_s) {
  const auto found = predict(picture, scenario);
  ASSERT_TRUE(found.ok()) << found.error().sentence;
  EXPECT_NEAR(found->predicted_wall_s, wall_s, 1e-6);
  EXPECT_NEAR(found->predicted.run.wall_s, wall_s, 1e-6);
  EXPECT_NEAR(found->unchanged_wall_s, found->wall_s, 1e-6);
  EXPECT_TRUE(found->predicted.identities.violations.empty());
}

Scenario scale(const char* callpaths, double factor) {
  Scenario scenario;
  scenario.scalings.push_back({callpaths, factor});
  return scenario;
}

constexpr const char* kLateSender = R"(
unit 1s
regions
  c main/comp
  w main/work
  S main/MPI_Send
  R main/MPI_Recv
  m main
lanes
  0.0 |ccccccSmmm
  1.0 |wwwRRRRmmm
events
  send 0.0@6 -> 1.0@3
)";

TEST(WhatIf, ALateSenderThatIsFasterMakesTheReceiverWaitLess) {
  // Rank 0: 6 comp, 1 Send, 3 main. Rank 1: 3 work, waits 3, 1 in the call, 3 main.
  expect_wall(kLateSender, scale("*/comp", 0.5), 7);
  const auto found = predict(kLateSender, scale("comp", 0.75));  // 4.5: the receiver waits 1.5
  ASSERT_TRUE(found.ok());
  EXPECT_NEAR(found->predicted.identities.waiting_s, 1.5, 1e-6);
  EXPECT_NEAR(found->recorded.identities.waiting_s, 3, 1e-6);
}

TEST(WhatIf, WhatNobodyWaitsForBringsNothing) {
  expect_wall(kLateSender, scale("*/work", 0.1), 10);
}

TEST(WhatIf, AReceiverThatIsSlowerThanTheSenderNoLongerWaits) {
  expect_wall(kLateSender, scale("*/work", 3), 13);  // 9 work, 1 in the call, 3 main
}

TEST(WhatIf, OnlyTheChosenRanksAreFaster) {
  Scenario scenario = scale("main", 0);  // with all that it calls
  scenario.ranks = {1};
  // Rank 1 is at its receive at once, and done 1 after the send; rank 0 takes what it took.
  expect_wall(kLateSender, scenario, 10);
}

constexpr const char* kBarriers = R"(
unit 1s
regions
  c main/comp
  B main/MPI_Barrier
lanes
  0.0 |ccccBBBBcccccccB
  1.0 |cccccccBcccBBBBB
events
  barrier 0.0@4 1.0@7
  barrier 0.0@15 1.0@11
)";

TEST(WhatIf, BalancedWorkTakesAllTheMean) {
  // 0: 4, then (after 8) 7; 1: 7, then 3: the barriers come at 7 and 15. Balanced: 5.5 and 5.
  Scenario scenario;
  scenario.balanced = {"comp"};
  expect_wall(kBarriers, scenario, 5.5 + 1 + 5 + 1);
}

TEST(WhatIf, WhatIsScaledAndBalancedIsBoth) {
  Scenario scenario = scale("comp", 0.5);
  scenario.balanced = {"comp"};
  expect_wall(kBarriers, scenario, 2.75 + 1 + 2.5 + 1);
  scenario.scalings = {{"comp", 0, true}};
  expect_wall(kBarriers, scenario, 2);  // a second each in the barriers
}

TEST(WhatIf, BalancedWorkHasNoiseAsWell) {
  Scenario scenario;
  scenario.balanced = {"comp"};
  scenario.perturbation.noise = {
      {{Distribution(Constant{1e6}), 1000}, 1}};  // takes it twice as long
  const auto found = predict(kBarriers, scenario);
  ASSERT_TRUE(found.ok()) << found.error().sentence;
  EXPECT_NEAR(found->predicted_wall_s, 2 * 5.5 + 2 * 5 + 2, 1);
}

TEST(WhatIf, ThreadsOfATeamShareAWholeRegion) {
  constexpr const char* kTeam = R"(
unit 1s
regions
  m main
  r main/!$omp parallel
  w main/!$omp parallel/work
  B main/!$omp parallel/!$omp implicit barrier
lanes
  0.0 |mrwwBBBBBm
  0.1 |..wwwwwwB.
events
  fork 0.0@1-9: 0.0 0.1@2-9
)";
  const auto found = predict(kTeam, scale("work", 1));
  ASSERT_TRUE(found.ok()) << found.error().sentence;
  EXPECT_NEAR(found->unchanged_wall_s, 10, 1e-6);
  Scenario scenario;
  scenario.balanced = {"work"};
  expect_wall(kTeam, scenario, 8);  // 2 and 6 become 4 and 4
}

TEST(WhatIf, LocksAreGivenAnew) {
  // Both work 1 before they ask; 0.1 has the critical part first, since 0.0 came 1 later.
  constexpr const char* kLock = R"(
unit 1s
regions
  m main
  r main/!$omp parallel
  w main/!$omp parallel/work
  C main/!$omp parallel/!$omp critical
  D main/!$omp parallel/!$omp critical/body
  B main/!$omp parallel/!$omp implicit barrier
lanes
  0.0 |mwwwwCCDDDDBm
  0.1 |.wwwDDDBBBBB.
events
  fork 0.0@1-12: 0.0 0.1@1-12
  mutex critical 7 0.1@4-7
  mutex critical 7 0.0@7-11
)";
  // Unchanged 13. With 0.0's work of 4 made 1, it asks at 2 and has it until 6 (4 inside); 0.1 asks
  // at 4, has it from 6 to 9: the barrier is over at 10, and the run at 11.
  Scenario scenario = scale("work", 0.25);
  scenario.threads = {0};
  expect_wall(kLock, scenario, 11);
  scenario.locks = LockOrder::recorded;  // 0.1 first: 4 to 7, then 0.0 7 to 11: nothing is gained
  expect_wall(kLock, scenario, 13);
}

Scenario later(Distribution delay) {
  Scenario scenario;
  scenario.perturbation.message_delay = std::move(delay);
  return scenario;
}

TEST(WhatIf, MessagesThatTakeLongerAreFeltWhereTheyAreWaitedFor) {
  expect_wall(kLateSender, later(Distribution(Constant{2'000'000'000})), 12);
}

TEST(WhatIf, DataOfACollectiveIsDelayedInEachOfItsRounds) {
  // Five ranks' data comes in three rounds; the run took 7 s.
  constexpr const char* kMet = R"(
unit 1s
regions
  c comp
  X MPI_Allreduce
lanes
  0.0 |cXXXXXX
  1.0 |cccccXX
  2.0 |ccXXXXX
  3.0 |ccccXXX
  4.0 |cccXXXX
events
  allreduce 0.0@1 1.0@5 2.0@2 3.0@4 4.0@3
)";
  expect_wall(kMet, later(Distribution(Constant{1'000'000'000})), 10);
}

TEST(WhatIf, WhoIsLastInACollectiveHasAlreadyGotWhatTheOthersGive) {
  // Rank 0's data has been on its way for 4 s when rank 1 comes, which then works for 3 s.
  constexpr const char* kLast = R"(
unit 1s
regions
  c comp
  X MPI_Allreduce
lanes
  0.0 |cXXXXXX
  1.0 |cccccXXccc
events
  allreduce 0.0@1 1.0@5
)";
  expect_wall(kLast, later(Distribution(Constant{2'000'000'000})), 10);
  expect_wall(kLast, later(Distribution(Constant{4'000'000'000})), 11);  // rank 0 has rank 1's at 9
  expect_wall(kLast, later(Distribution(Constant{6'000'000'000})), 13);
}

/// Rank 1 sends at once, and rank 0 gets it in the Waitall that ends when rank 1 is in its own.
constexpr const char* kAided = R"(
unit 100ms
regions
  c comp
  I MPI_Irecv
  S MPI_Isend
  W MPI_Waitall
  m main
lanes
  0.0 |IccccccccccWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWmm
  1.0 |SccccccccccccccccccccccccccccccccccccccccWmm
events
  isend 1.0@0 wait 41 -> irecv 0.0@0 wait 11 bytes 65536
)";

TEST(WhatIf, LargeMessagesMoveWhileBothSidesAreInMpi) {
  Scenario half = scale("comp", 0.5);
  half.ranks = {1};
  expect_wall(kAided, half, 2.4);
  expect_wall(kAided, scale("comp", 0.1), 0.8);
}

TEST(WhatIf, LargeSendsAreOverWhenTheirReceiverIsBack) {
  // Rank 0 gets what it wants at 11, while rank 1 computes; its own message goes when rank 1 waits.
  constexpr const char* kPulled = R"(
unit 100ms
regions
  c comp
  I MPI_Irecv
  S MPI_Isend
  R MPI_Recv
  W MPI_Wait
  m main
lanes
  0.0 |ccSccccccRRWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWmm
  1.0 |IScccccccccccccccccccccccccccccccccccccccccWmm
events
  isend 0.0@2 wait 11 -> irecv 1.0@0 wait 43 bytes 65536
  isend 1.0@1 wait 43 -> 0.0@9 bytes 65536
)";
  Scenario half = scale("comp", 0.5);
  half.ranks = {1};
  expect_wall(kPulled, half, 2.55);
}

TEST(WhatIf, OfACallThatCompletesSeveralTheLastMessageCounts) {
  // Rank 2 is back early, and rank 0 still there: for rank 1.
  constexpr const char* kBoth = R"(
unit 100ms
regions
  c comp
  I MPI_Irecv
  J MPI_Irecv
  S MPI_Isend
  W MPI_Waitall
  m main
lanes
  0.0 |IJcccccccccWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWmm
  1.0 |SccccccccccccccccccccccccccccccccccccccccWmm
  2.0 |SccccccccccccWmm
events
  isend 1.0@0 wait 41 -> irecv 0.0@0 wait 11 bytes 65536
  isend 2.0@0 wait 13 -> irecv 0.0@1 wait 11 bytes 65536
)";
  Scenario half = scale("comp", 0.5);
  half.ranks = {1};
  expect_wall(kBoth, half, 2.4);
}

TEST(WhatIf, ATransferThatTakesLongIsNoWaitForTheOtherSide) {
  // Rank 1 is in its Waitall while the transfer goes on.
  constexpr const char* kLong = R"(
unit 100ms
regions
  c comp
  I MPI_Irecv
  S MPI_Isend
  W MPI_Waitall
  m main
lanes
  0.0 |IccccWWWWWWWWWWWWWWWWmm
  1.0 |SccccccccccWWWWWWWWWWmm
events
  isend 1.0@0 wait 11 -> irecv 0.0@0 wait 5 bytes 65536
)";
  expect_wall(kLong, scale("comp", 0), 1.9);
}

TEST(WhatIf, WhoAskedFirstHasTheLockFirst) {
  constexpr const char* kThree = R"(
unit 1s
regions
  m main
  r main/!$omp parallel
  w main/!$omp parallel/work
  C main/!$omp parallel/!$omp critical
  D main/!$omp parallel/!$omp critical/body
  x main/!$omp parallel/rest
  B main/!$omp parallel/!$omp implicit barrier
lanes
  0.0 |mwwCCCDDDDBBBBBBBBm
  0.1 |.wDDDDBBBBBBBBBBBB.
  0.2 |.wwwCCCCCCDDDDxxxB.
events
  fork 0.0@1-18: 0.0 0.1@1-18 0.2@1-18
  mutex critical 7 0.1@2-6
  mutex critical 7 0.0@6-10
  mutex critical 7 0.2@10-14
)";
  // 0.1 asks at 5 instead of 2. 0.0 has it from 3 to 7, then 0.2, which asked at 4, until 11, then
  // 0.1 until 15; 0.2 is done at 14. The barrier takes 1 more, and so does what follows.
  Scenario scenario = scale("work", 4);
  scenario.threads = {1};
  expect_wall(kThree, scenario, 17);
  scenario.locks = LockOrder::earlier;  // 0.1 until 11, 0.2 until 15, and its rest until 18
  expect_wall(kThree, scenario, 20);
}

TEST(WhatIf, SaysWhatItCannotFind) {
  const auto none = predict(kLateSender, scale("*/nothing", 0.5));
  ASSERT_FALSE(none.ok());
  EXPECT_NE(none.error().sentence.find("no call path is like '*/nothing'"), std::string::npos);
  Scenario scenario = scale("*/comp", 0.5);
  scenario.ranks = {7};
  ASSERT_FALSE(predict(kLateSender, scenario).ok());
  Scenario device;
  device.kernels = 0.5;
  ASSERT_FALSE(predict(kLateSender, device).ok());
}

}  // namespace
}  // namespace culprit::predict
