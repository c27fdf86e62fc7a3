// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Work that is spread evenly where no operation of all tells which belongs together.
#include <gtest/gtest.h>

#include "predict/rerun/what_if.h"
#include "trace/text/text.h"

namespace culprit::predict {
namespace {

/// What the run takes with `comp` balanced.
void expect_balanced(const char* picture, double wall_s) {
  const auto trace = trace::TextTrace::parse(picture);
  ASSERT_TRUE(trace.ok());
  Scenario scenario;
  scenario.balanced = {"comp"};
  const auto found = what_if(**trace, scenario, 1, {});
  ASSERT_TRUE(found.ok()) << found.error().sentence;
  EXPECT_NEAR(found->predicted_wall_s, wall_s, 1e-6);
  EXPECT_NEAR(found->predicted.run.wall_s, wall_s, 1e-6);
}

// Only neighbours meet, and whose load is larger moves.
constexpr const char* kMoving = R"(
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
)";

TEST(Balance, GivesEachVisitTheMean) {
  // 4 each time: rank 1 sends again at 4 + 1 + 2 + 4 = 11, and rank 0 has the message 2 later.
  expect_balanced(kMoving, 13);
}

TEST(Balance, LevelsVisitsThatDifferInNumberInOne) {
  constexpr const char* kUneven = R"(
unit 1s
regions
  c main/comp
  S main/MPI_Send
  R main/MPI_Recv
lanes
  0.0 |ccSccccRRRRRRRR
  1.0 |RRRccccccccccS
events
  send 0.0@2 -> 1.0@0
  send 1.0@13 -> 0.0@7
)";
  // 6 and 10 become 8: rank 0's visits of 2 and 4 take 8/3 and 16/3. Rank 1 gets its message at
  // 8/3, has 1 in the call and 8 of work; rank 0 has 2 in its own.
  expect_balanced(kUneven, 8.0 / 3 + 1 + 8 + 2);
}

}  // namespace
}  // namespace culprit::predict
