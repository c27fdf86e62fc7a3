// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Drawn runs with a change, and how long they take then; each answer is worked out by hand.
#include "predict/rerun/what_if.h"

#include <gtest/gtest.h>

#include <string>

#include "predict/rerun/whole_run.h"
#include "tests/unit/predict_rerun/drawn.h"

namespace culprit::predict {
namespace {

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

/// Rank 1 sends to rank 0, which waits already; what comes after takes it longer.
std::string sent(const std::string& call, const std::string& bytes) {
  return R"(
unit 1s
regions
  c main/comp
  w main/work
  R main/MPI_Recv
  t main/tail
  S main/)" +
         call + R"(
lanes
  0.0 |cccRRRR
  1.0 |wwwwwwSttt
events
  send 1.0@6 -> 0.0@3 bytes )" +
         bytes + "\n";
}

TEST(WhatIf, LargeSendsWaitForTheirReceiversAndSmallOnesDoNot) {
  const Scenario late = scale("comp", 3);  // the receive is posted at 9 instead of at 3
  expect_wall(sent("MPI_Send", "65536").c_str(), late, 9 + 1 + 3);
  expect_wall(sent("MPI_Ssend", "4").c_str(), late, 9 + 1 + 3);
  expect_wall(sent("MPI_Send", "4096").c_str(), late, 9 + 1);
  const auto found = predict(sent("MPI_Send", "20000").c_str(), late);
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(found->unknowns.sends, 1u);
  EXPECT_EQ(found->unknowns.most_bytes, 20000u);
  const auto small = predict(sent("MPI_Send", "4096").c_str(), late);
  ASSERT_TRUE(small.ok());
  EXPECT_EQ(small->unknowns.sends, 0u);
}

TEST(WhatIf, ALoopThatOnlyTestsWaits) {
  // Naps of 2 between tests, from 1 on; sent at 10, found at 13. Sent at 2 or 4: the loop
  // is over by then but for what came after 10: a test, a nap of 2, and the test that found it.
  constexpr const char* kLoop = R"(
unit 1s
regions
  c main/comp
  S main/MPI_Send
  I main/MPI_Irecv
  T main/MPI_Test
  n main/nap
  w main/work
lanes
  0.0 |ccccccccccS.....
  1.0 |ITnnTnnTnnTnnTww
events
  send 0.0@10 -> irecv 1.0@0 wait 13
)";
  expect_wall(kLoop, scale("comp", 0.2), 2 + 1 + 5);
  expect_wall(kLoop, scale("comp", 0.4), 4 + 3 + 1 + 2);
  expect_wall(kLoop, scale("comp", 2), 20 + 3 + 1 + 2);
  // If it goes on with the same, then the tests interrupt work.
  std::string work = kLoop;
  work.replace(work.find("Tww"), 3, "Tnn");
  expect_wall(work.c_str(), scale("comp", 0.4), 16);
  const auto found = predict(work.c_str(), scale("comp", 0.4));
  ASSERT_TRUE(found.ok());
  EXPECT_GT(found->unknowns.polled, Duration::zero());
  const auto told = predict(kLoop, scale("comp", 0.4));
  ASSERT_TRUE(told.ok());
  EXPECT_EQ(told->unknowns.polled, Duration::zero());
}

TEST(WhatIf, TestsThatInterruptWorkOnceDoSoAlways) {
  // Work in pieces, with tests in between. The first message comes with the last test, so nothing
  // shows that the work would have been done anyway; after the second one it goes on.
  constexpr const char* kWork = R"(
unit 1s
regions
  c main/comp
  S main/MPI_Send
  I main/MPI_Irecv
  T main/MPI_Test
  n main/nap
  w main/work
lanes
  0.0 |ccccccccccSccccccccccccScccccccc
  1.0 |ITnnTnnTnnTnnTwwITnnTnnTnnTnnTnn
events
  send 0.0@10 -> irecv 1.0@0 wait 13
  send 0.0@23 -> irecv 1.0@16 wait 29
)";
  expect_wall(kWork, scale("work", 0.5), 32);
  const auto found = predict(kWork, scale("work", 0.5));
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(found->unknowns.polled, Duration::from_nanos(15'000'000'000));  // 9, then 6
}

TEST(WhatIf, WhoComesLateForAnAccessKeepsItsOrigin) {
  // Rank 0's post came 3 before the start. Three times its work: it posts at 9, rank 1's completion
  // waits from 7 on, and is over at 10; then 3 main.
  constexpr const char* kPost = R"(
unit 1s
regions
  c main/comp
  w main/work
  S main/MPI_Win_start
  P main/MPI_Put
  C main/MPI_Win_complete
  p main/MPI_Win_post
  W main/MPI_Win_wait
  m main
lanes
  0.0 |cccpWWWWmm
  1.0 |wwwwwSPCmmm
events
  win_start 1.0@5 with 0
  put 1.0@6 to 0
  win_complete 1.0@7
  win_post 0.0@3 with 1
  win_wait 0.0@4
)";
  expect_wall(kPost, scale("comp", 3), 9 + 1 + 3);
  expect_wall(kPost, scale("work", 2), 10 + 2 + 1 + 3);  // and Win_wait until the completion
}

TEST(WhatIf, WindowsLocksExcludeWhoCameLaterWhenRecorded) {
  // Rank 0 has it from 1 to 4, rank 1 from 5 to 7. With a hold of 9 (three times) rank 0 has it
  // until 11; rank 1's lock waits until then, its hold of 1 takes 3 and its unlock 1.
  constexpr const char* kLock = R"(
unit 1s
regions
  c main/comp
  h main/hold
  L main/MPI_Win_lock
  U main/MPI_Win_unlock
lanes
  0.0 |cLhhhUcccc
  1.0 |cccccLhUcc
  2.0 |cccccccccc
events
  win_lock 0.0@1 to 2 exclusive
  win_unlock 0.0@5 to 2
  win_lock 1.0@5 to 2 exclusive
  win_unlock 1.0@7 to 2
)";
  expect_wall(kLock, scale("hold", 1), 10);
  expect_wall(kLock, scale("hold", 3), 2 + 9 + 1 + 3 + 1 + 2);
}

TEST(WhatIf, SharedLocksOfAWindowKeepOnlyOthersWaiting) {
  // Ranks 0 and 1 share rank 3's window from 2 to 5 and from 3 to 5; rank 2 has it alone from 7.
  constexpr const char* kLock = R"(
unit 1s
regions
  c main/comp
  h main/hold
  L main/MPI_Win_lock
  U main/MPI_Win_unlock
lanes
  0.0 |cLhhhUcccc
  1.0 |ccLhhUcccc
  2.0 |ccccccLUcc
  3.0 |cccccccccc
events
  win_lock 0.0@1 to 3
  win_unlock 0.0@5 to 3
  win_lock 1.0@2 to 3
  win_unlock 1.0@5 to 3
  win_lock 2.0@6 to 3 exclusive
  win_unlock 2.0@7 to 3
)";
  Scenario scenario = scale("hold", 4);
  scenario.ranks = {0};
  expect_wall(kLock, scenario, 2 + 12 + 5);  // rank 0's own
  expect_wall(kLock, scale("hold", 4), 2 + 12 + 5);
  // All ask at once: those first that had it first.
  expect_wall(kLock, scale("comp", 0), 4 + 1 + 1);
}

TEST(WhatIf, ATaskwaitWaitsForATaskThatTakesLonger) {
  // The task ran from 3 to 5 while its creator worked until 7. Five times as long: until 13; then
  // the taskwait's second and 3 more.
  constexpr const char* kTask = R"(
unit 1s
regions
  m main
  p main/!$omp parallel
  w main/!$omp parallel/work
  W main/!$omp parallel/!$omp taskwait
  t main/!$omp parallel/!$omp task
lanes
  0.0 |mpwwwwwWpp
  0.1 |.pptt.....
events
  fork 0.0@1-10: 0.0 0.1@1-5
  task 1 create 0.0@2 run 0.1@3-5
)";
  expect_wall(kTask, scale("!$omp task", 5), 13 + 1 + 2);
  expect_wall(kTask, scale("work", 0.2), 5 + 1 + 2);
}

TEST(WhatIf, ATaskgroupWaitsForDescendantsThatTakeLonger) {
  constexpr const char* kGroup = R"(
unit 1s
regions
  m main
  p main/!$omp parallel
  G main/!$omp parallel/!$omp taskgroup
  w main/!$omp parallel/!$omp taskgroup/work
  E main/!$omp parallel/!$omp taskgroup/!$omp end taskgroup
  t main/!$omp parallel/!$omp task
  x main/!$omp parallel/!$omp task
lanes
  0.0 |mpGGwwwwwwEpp
  0.1 |.ppttt.......
  0.2 |.ppppxxx.....
events
  fork 0.0@1-13: 0.0 0.1@1-6 0.2@1-8
  task 1 create 0.0@3 run 0.1@3-6
  task 2 create 0.1@5 run 0.2@5-8
)";
  Scenario scenario = scale("!$omp task", 3);
  scenario.threads = {2};
  expect_wall(kGroup, scenario, 14 + 1 + 2);  // the descendant takes 9, from 5 on
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

TEST(WhatIf, RefusesWhatNobodyThereExecutes) {
  Scenario scenario = scale("comp", 0.5);
  scenario.ranks = {0, 99};
  EXPECT_FALSE(predict(kLateSender, scenario).ok());
  scenario.ranks = {1};  // it has no comp
  const auto refused = predict(kLateSender, scenario);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().sentence.find("none of the chosen"), std::string::npos);
}

TEST(WhatIf, ThreadsBeginEarlierIfTheyAreMadeEarlier) {
  const char* const picture = R"(unit 1s
regions
  i main/init
  B main/MPI_Barrier
  R main/MPI_Recv
  l main/late
  J main/pthread_join
  h helper
  S helper/MPI_Send
lanes
  0.0 |iBBRRRRRRR
  1.0 |iiiBlllJJJ
  1.1 |.......hhS
events
  barrier 0.0@1 1.0@3
  wake 1 1.0@7
  begun 1 1.1@7
  send 1.1@9 -> 0.0@3
  wake 2 1.1@10
  await 2 1.0@10
)";
  Scenario both = scale("init", 0.1);  // it is made before the moment at which the two met
  both.scalings.push_back({"late", 0.1});
  expect_wall(picture, both, 4.6);
}

TEST(WhatIf, RefusesRunsThatAreNotWhole) {
  const auto trace = trace::TextTrace::parse(kLateSender);
  ASSERT_TRUE(trace.ok());
  Losses losses;
  losses.add(LossKind::early_ends);
  EXPECT_FALSE(what_if(**trace, scale("comp", 0.5), 1, losses).ok());
  EXPECT_TRUE(what_if(**trace, scale("comp", 0.5), 1, {}).ok());
  blame::Findings hung;
  EXPECT_TRUE(check_whole(hung));
  hung.waits.emplace_back().pattern = "run.unanswered";
  EXPECT_FALSE(check_whole(hung));
}

TEST(WhatIf, WhatTakesTooLongIsLongAndNotNothing) {
  Scenario scenario = scale("comp", 1e6);
  scenario.scalings.push_back({"comp", 1e6});
  const auto found = predict(kLateSender, scenario);
  ASSERT_TRUE(found.ok());
  EXPECT_GT(found->predicted_wall_s, 1e5);
}
}  // namespace
}  // namespace culprit::predict
