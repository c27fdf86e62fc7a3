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
  scenario.perturbation.noise = {{{Distribution(Constant{1e6}), 1000}, 1}};  // takes it twice as long
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
