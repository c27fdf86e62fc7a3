// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Drawn runs, and what a change of those to blame would bring; each answer is worked out by hand.
#include "predict/rerun/gains.h"

#include <gtest/gtest.h>

#include "predict/rerun/what_if.h"
#include "tests/support/text/text.h"

namespace culprit::predict {
namespace {

using blame::Findings;
using blame::GainKind;

/// Functions are call paths that end in a region of the same name.
std::vector<std::vector<CallPathId>> functions_of(const Findings& findings) {
  std::map<std::string, std::vector<CallPathId>> by_name;
  for (size_t i = 0; i < findings.callpaths.size(); ++i) {
    by_name[findings.callpaths[i].region].push_back(CallPathId(i));
  }
  std::vector<std::vector<CallPathId>> list;
  for (auto& [name, paths] : by_name) list.push_back(std::move(paths));
  return list;
}

Findings projected(const char* picture, const Losses& losses = {}) {
  const auto trace = trace::TextTrace::parse(picture);
  if (!trace.ok()) {
    ADD_FAILURE() << trace.error().sentence;
    return {};
  }
  GainObserver observer(1, functions_of);
  blame::AnalyzeOptions options;
  options.threads = 1;
  options.observer = &observer;
  auto findings = blame::analyze(**trace, options, losses);
  EXPECT_TRUE(findings.ok());
  return std::move(*findings);
}

/// A row of `rows`, by the call path's name.
template <class Row>
Row gain(const Findings& findings, const std::vector<Row>& rows, const std::string& path) {
  for (const Row& row : rows) {
    if (findings.callpaths[row.callpath.index()].name == path) return row;
  }
  ADD_FAILURE() << "no gain of " << path;
  return {};
}

void expect_gain(const Findings& findings, const std::string& path, GainKind kind, double gain_s) {
  const blame::FoundGain row = gain(findings, findings.gains, path);
  EXPECT_EQ(row.kind, kind) << path;
  EXPECT_NEAR(row.gain_s, gain_s, 1e-6) << path;
}

// A loop of which thread 1 has the greater part, twice.
TEST(Gains, ATeamIsBalancedAfterItsForksAreForgotten) {
  const Findings found = projected(R"(
unit 1s
regions
  m main
  w main/!$omp parallel/work
  B main/!$omp parallel/!$omp implicit barrier
lanes
  0.0 |mwwBBBBBmwwBBBBBm
  0.1 |.wwwwwwB.wwwwwwB.
events
  fork 0.0@1-8: 0.0 0.1
  fork 0.0@9-16: 0.0 0.1
)");
  expect_gain(found, "main/!$omp parallel/work", GainKind::balanced, 4);  // 2 and 6, twice
}

TEST(Gains, OneTeamOfTwoRanksIsBalancedByItself) {
  // Rank 0: 2 and 6 of a team; rank 1 waits for it in the barrier.
  const Findings found = projected(R"(
unit 1s
regions
  m main
  w main/!$omp parallel/work
  B main/!$omp parallel/!$omp implicit barrier
  A main/MPI_Barrier
lanes
  0.0 |mwwBBBBBmA
  0.1 |.wwwwwwB
  1.0 |mmAAAAAAAA
events
  fork 0.0@1-8: 0.0 0.1
  barrier 0.0@9 1.0@2
)");
  expect_gain(found, "main/!$omp parallel/work", GainKind::balanced, 2);
}

TEST(Gains, ASingleThreadsPartOfATeamIsSharedWithTheOther) {
  const Findings found = projected(R"(
unit 1s
regions
  m main
  w main/!$omp parallel/work
  B main/!$omp parallel/!$omp implicit barrier
lanes
  0.0 |mwwwwwwBm
  0.1 |.BBBBBBB.
events
  fork 0.0@1-8: 0.0 0.1
)");
  expect_gain(found, "main/!$omp parallel/work", GainKind::balanced, 3);
}

// The threads of two ranks exchange data number by number; thread 1 of rank 0 is late, thread 0 is
// it by little. All work at one call path, so all share it.
TEST(Gains, ThreadsThatCommunicateShareTheWorkWithThoseThatAreLate) {
  const Findings found = projected(R"(
unit 1s
regions
  m main
  w main/!$omp parallel/work
  S main/!$omp parallel/MPI_Send
  R main/!$omp parallel/MPI_Recv
  B main/!$omp parallel/!$omp implicit barrier
  A main/MPI_Barrier
lanes
  0.0 |mwwwSBBBBBBBA
  0.1 |.wwwwwwwwwSB
  1.0 |mwwRRBBBBBBBA
  1.1 |.wwRRRRRRRRB
events
  fork 0.0@1-12: 0.0 0.1
  fork 1.0@1-12: 1.0 1.1
  send 0.0@4 -> 1.0@3 tag 0
  send 0.1@10 -> 1.1@3 tag 1
  barrier 0.0@12 1.0@12
)");
  // 3, 9, 2 and 2 become 4 each, 0.1 sends at 5, and the team is complete at 6 instead of 11.
  expect_gain(found, "main/!$omp parallel/work", GainKind::balanced, 5);
}

TEST(Gains, ADelayThatMovesIsBalancedStepByStep) {
  // Only neighbours exchange data.
  const Findings found = projected(R"(
unit 1s
regions
  c main/comp
  S main/MPI_Send
  R main/MPI_Recv
lanes
  0.0 |ccccccSRccSRRRRR
  1.0 |ccSRRRRRccccccSR
events
  send 0.0@6 -> 1.0@3
  send 1.0@2 -> 0.0@7
  send 0.0@10 -> 1.0@15
  send 1.0@14 -> 0.0@11
)");
  // 6 and 2, then 2 and 6, become 4 each time. Rank 1 has 4 + S 1 + 2 in the receive, once more 4,
  // and rank 0 is done 2 after its send: 13 instead of 16.
  expect_gain(found, "main/comp", GainKind::balanced, 3);
}

TEST(Gains, ALoadThatIsEvenOnlyInSumIsMadeFaster) {
  // Rank 1 does in one visit what rank 0 does in two: which goes with which is not known.
  const Findings found = projected(R"(
unit 1s
regions
  c main/comp
  S main/MPI_Send
  R main/MPI_Recv
lanes
  0.0 |ccccSccccRRRRRR
  1.0 |RRRRRccccccccS
events
  send 0.0@4 -> 1.0@0
  send 1.0@13 -> 0.0@9
)");
  const auto row = gain(found, found.gains, "main/comp");
  EXPECT_EQ(row.kind, GainKind::halved);
  EXPECT_NEAR(row.gain_s, 6, 1e-6);  // 2, 1 in the receive, 4, and 2 in the other: 9 instead of 15
}

// alpha of rank 0 takes 8, beta of rank 1 too, at the same time: whoever takes alpha away sees
// beta.
constexpr const char* kBehind = R"(
unit 1s
regions
  a main/alpha
  b main/beta
  A main/MPI_Barrier
lanes
  0.0 |aaaaaaaaabA
  1.0 |abbbbbbbbAA
  2.0 |abAAAAAAAAA
events
  barrier 0.0@10 1.0@9 2.0@2
)";

TEST(Gains, WhatCostsNothingIsFoundBehindWhatCosts) {
  const Findings found = projected(kBehind);
  ASSERT_EQ(found.gains.size(), 2u);
  EXPECT_EQ(found.callpaths[found.gains[0].callpath.index()].name, "main/alpha");
  EXPECT_EQ(found.callpaths[found.gains[1].callpath.index()].name, "main/beta");
  // If others take all of alpha from rank 1, it comes at 8 instead of 9. Both together are 21: 7
  // each.
  expect_gain(found, "main/alpha", GainKind::balanced, 2);
  EXPECT_NEAR(found.gains[1].together_s, 3, 1e-6);
}

TEST(Gains, AFunctionIsChangedAtAllItsCallPaths) {
  const Findings found = projected(R"(
unit 1s
regions
  a main/alpha/nap
  b main/beta/nap
  A main/MPI_Barrier
lanes
  0.0 |aaaaaAabA
  1.0 |abAAAAbbA
  2.0 |aAAAAAbAA
events
  barrier 0.0@5 1.0@2 2.0@1
  barrier 0.0@8 1.0@8 2.0@7
)");
  ASSERT_EQ(found.function_gains.size(), 1u);
  EXPECT_EQ(found.callpaths[found.function_gains[0].callpath.index()].name, "main/alpha/nap");
  EXPECT_GE(found.function_gains[0].gain_s, gain(found, found.gains, "main/alpha/nap").gain_s);
}

TEST(Gains, AFunctionIsSharedInsideAndOutsideOfRegions) {
  // The team shares 2 and 6. What the master does alone before, 4 behind 1 of something else, could
  // be shared, too: both are done with it at 2.5.
  const Findings found = projected(R"(
unit 1s
regions
  n main/nap
  m main
  w main/!$omp parallel/nap
  B main/!$omp parallel/!$omp implicit barrier
lanes
  0.0 |mnnnnwwBBBBBm
  0.1 |.....wwwwwwB.
events
  fork 0.0@5-12: 0.0 0.1
)");
  ASSERT_FALSE(found.function_gains.empty());
  EXPECT_EQ(found.function_gains[0].kind, GainKind::balanced);
  EXPECT_NEAR(found.function_gains[0].gain_s, 4.5, 1e-6);
}

// Thread 0.1 sleeps in slices until it is joined, and then for what is left of its slice.
TEST(Gains, AHelperThatNapsHoldsNobodyUp) {
  const Findings found = projected(R"(
unit 1s
regions
  m main
  w main/work
  B main/MPI_Barrier
  J main/pthread_join
  T helper/pthread_cond_timedwait
lanes
  0.0 |mwwBBBBBBBJm
  0.1 |.TTTTTTTTTT
  1.0 |mwwwwwwwwBmm
events
  barrier 0.0@3 1.0@9
  wake 1 0.0@1
  begun 1 0.1@1
  wake 2 0.1@11
  await 2 0.0@11
)");
  expect_gain(found, "main/work", GainKind::balanced, 3);  // 2 and 8 become 5
}

TEST(Gains, ThreadsThatATeamLeavesOutCouldShareItsWork) {
  // 6 of each of two threads become 3 of each of four.
  const Findings found = projected(R"(
unit 1s
regions
  m main
  o main/!$omp parallel/other
  O main/!$omp parallel/!$omp implicit barrier
  w main/!$omp parallel @b/work
  W main/!$omp parallel @b/!$omp implicit barrier
lanes
  0.0 |mooOwwwwwwWooOm
  0.1 |.ooOwwwwwwWooO.
  0.2 |.ooO.......ooO.
  0.3 |.ooO.......ooO.
events
  fork 0.0@1-4: 0.0 0.1 0.2 0.3
  fork 0.0@4-11: 0.0 0.1
  fork 0.0@11-14: 0.0 0.1 0.2 0.3
)");
  expect_gain(found, "main/!$omp parallel @b/work", GainKind::balanced, 3);
  EXPECT_EQ(found.delays.front().location, LocationId(0));  // and as much on 0.1
}

TEST(Gains, ASingleIsNotDivided) {
  const Findings found = projected(R"(
unit 1s
regions
  m main
  s main/!$omp parallel/!$omp single/work
  B main/!$omp parallel/!$omp implicit barrier
lanes
  0.0 |mssssssBm
  0.1 |.BBBBBBB.
events
  fork 0.0@1-8: 0.0 0.1
)");
  expect_gain(found, "main/!$omp parallel/!$omp single/work", GainKind::halved, 3);
}

TEST(Gains, RanksOfABroadcastCouldShareWhatItsRootDoesAlone) {
  const Findings found = projected(R"(
unit 1s
regions
  m main
  w main/work
  B main/MPI_Bcast
lanes
  0.0 |mwwwwwwBm
  1.0 |mBBBBBBBm
events
  bcast root 0 0.0@7 1.0@1
)");
  expect_gain(found, "main/work", GainKind::balanced, 3);
  EXPECT_NEAR(gain(found, found.gains, "main/work").halved_s, 3, 1e-6);
}

TEST(Gains, WhoWaitsForTheWorkWouldShareItBeforeThat) {
  const Findings found = projected(R"(
unit 1s
regions
  m main
  w main/work
  R main/MPI_Recv
  S main/MPI_Send
  A main/MPI_Barrier
lanes
  0.0 |mRRRRRRRRRAm
  1.0 |mwwwwwwwwSAm
events
  send 1.0@9 -> 0.0@1
  barrier 0.0@10 1.0@10
)");
  expect_gain(found, "main/work", GainKind::balanced, 4);
}

// Rank 0's work begins when it has sent what rank 1 waits for.
TEST(Gains, WhoWaitsForSomethingElseSharesTheWorkAfterIt) {
  const Findings found = projected(R"(
unit 1s
regions
  m main
  p main/prepare
  w main/work
  R main/MPI_Recv
  S main/MPI_Send
  A main/MPI_Barrier
lanes
  0.0 |mpSwwwwwwwwAm
  1.0 |mRRAAAAAAAAAm
events
  send 0.0@2 -> 1.0@1
  barrier 0.0@11 1.0@3
)");
  // Rank 0 has 3 besides, rank 1 has 2: 6.5 each. Rank 1 has its 4.5 behind the receive, at 7.5.
  expect_gain(found, "main/work", GainKind::balanced, 3.5);
}

TEST(Gains, HalvingIsSaidWhereOtherChangesBringLittleOfIt) {
  const Findings found = projected(R"(
unit 1s
regions
  m main
  b main/!$omp parallel/begin
  s main/!$omp parallel/!$omp single/work
  B main/!$omp parallel/!$omp implicit barrier
lanes
  0.0 |mbssssssssssssssssssssBm
  0.1 |.bBBBBBBBBBBBBBBBBBBBBB.
events
  fork 0.0@1-23: 0.0 0.1
)");
  expect_gain(found, "main/!$omp parallel/!$omp single/work", GainKind::halved, 10);
}

// What rank 1 waits for comes from outside of the run: no other rank can take over half of that.
TEST(Gains, WaitingForSomethingOutsideIsNotShared) {
  const char* const picture = R"(
unit 1s
regions
  w main/work
  b main/(blocked in read)
  B main/MPI_Barrier
lanes
  0.0 |wBBBBBBBB
  1.0 |bbbbbbbbB
events
  barrier 0.0@1 1.0@8
)";
  expect_gain(projected(picture), "main/(blocked in read)", GainKind::halved, 4);
}

TEST(Gains, WhatCostsNextToNothingIsNotTried) {
  const std::string work(998, 'c');
  const std::string picture =
      "unit 1s\nregions\n  c main/comp\n  A main/MPI_Barrier\nlanes\n  0.0 |" + work +
      "cA\n  1.0 |" + work + "AA\nevents\n  barrier 0.0@999 1.0@998\n";
  const Findings found = projected(picture.c_str());
  EXPECT_FALSE(found.delays.empty());
  EXPECT_TRUE(found.gains.empty());
  EXPECT_TRUE(found.function_gains.empty());
}

TEST(Gains, NothingIsKnownOfARunThatWasKilled) {
  EXPECT_FALSE(projected(kBehind).gains.empty());
  Losses losses;
  losses.add(LossKind::early_ends);
  EXPECT_TRUE(projected(kBehind, losses).gains.empty());
  EXPECT_TRUE(projected(kBehind, losses).function_gains.empty());
}

}  // namespace
}  // namespace culprit::predict
