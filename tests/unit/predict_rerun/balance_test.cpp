// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Work that is spread evenly where no operation of all tells which belongs together; and what that
// costs, however the work is divided into parts and visits.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>

#include "predict/rerun/what_if.h"
#include "tests/support/instructions.h"
#include "tests/support/text/text.h"

namespace culprit::predict {
namespace {

/// What the run takes with `comp` balanced.
void expect_balanced(const char* picture, double wall_s, std::optional<Over> over = {}) {
  const auto trace = trace::TextTrace::parse(picture);
  ASSERT_TRUE(trace.ok());
  Scenario scenario;
  scenario.balanced = {"comp"};
  scenario.over = over;
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

// Tasks are executed in the barrier that waits for them: they belong to what this barrier ends.
// Both threads have 1 besides and other tasks; the longest task is bounded by its own length.
TEST(Balance, LevelsTasksThatThreadsExecuteInABarrier) {
  const std::string regions = R"(
unit 1s
regions
  m main
  S main/!$omp parallel/!$omp single
  p main/!$omp parallel
  B main/!$omp parallel/!$omp implicit barrier
  o main/!$omp parallel/!$omp implicit barrier/!$omp task/other
  c main/!$omp parallel/!$omp implicit barrier/!$omp task/comp
lanes
)";
  const std::string even = regions + R"(  0.0 |mSSBooccccm
  0.1 |.ppBooBBBB.
events
  fork 0.0@1-10: 0.0 0.1
  task 1 create 0.0@2 run 0.0@4-6
  task 2 create 0.0@2 run 0.1@4-6
  task 3 create 0.0@2 run 0.0@6-10
)";
  expect_balanced(even.c_str(), 9, Over::threads);  // each takes (5 + 4 + 5) / 2 = 7 instead of 9
  const std::string one_long = regions + R"(  0.0 |mSSBoccccccccccm
  0.1 |.ppBoBBBBBBBBBB.
events
  fork 0.0@1-15: 0.0 0.1
  task 1 create 0.0@2 run 0.0@4-5
  task 2 create 0.0@2 run 0.1@4-5
  task 3 create 0.0@2 run 0.0@5-15
)";
  expect_balanced(one_long.c_str(), 12, Over::threads);  // 10 instead of 14, the mean is 9
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

// Rank 0 has none of the work, and waits for rank 1 each time.
TEST(Balance, GivesWhoHasNoneItsPartInAsManyPieces) {
  constexpr const char* kOnOneRank = R"(
unit 1s
regions
  c main/comp
  o main/other
  S main/MPI_Send
  R main/MPI_Recv
  B main/MPI_Barrier
lanes
  0.0 |oSRRRoSRRRoSRRRB
  1.0 |occSRoccSRoccSRB
events
  send 1.0@3 -> 0.0@2
  send 0.0@1 -> 1.0@4
  send 1.0@8 -> 0.0@7
  send 0.0@6 -> 1.0@9
  send 1.0@13 -> 0.0@12
  send 0.0@11 -> 1.0@14
  barrier 0.0@15 1.0@15
)";
  // Beside its 6 they are busy for 12 and 9, so rank 0 gets 1.5 of it and each of three times is
  // 0.5 shorter. All of rank 0's part at the end would save nothing.
  expect_balanced(kOnOneRank, 14.5);
}

/// What the members of a run do, each in its own number of visits.
struct Shape {
  const char* name;
  std::vector<size_t> visits;  ///< by member, of each part
  size_t parts = 1;            ///< between operations that all pass
  size_t steps = 1;            ///< in a visit
};

EventGraph graph_of(const Shape& shape, size_t times) {
  EventGraph graph;
  graph.hubs.resize(1 + shape.parts);
  graph.meetings.resize(shape.parts);
  for (size_t part = 0; part < shape.parts; ++part) {
    graph.hubs[1 + part].meeting = static_cast<uint32_t>(part);
  }
  graph.steps.resize(shape.visits.size());
  const size_t most = *std::max_element(shape.visits.begin(), shape.visits.end());
  for (size_t m = 0; m < shape.visits.size(); ++m) {
    Column<Step>& steps = graph.steps[m];
    const auto put = [&](StepKind kind, int64_t amount, uint32_t what) {
      steps.push_back({static_cast<uint64_t>(kind), amount, what, Deliveries::kNone});
    };
    graph.locations.push_back(LocationId(m));
    put(StepKind::work, 1, 1);
    for (size_t part = 0; part < shape.parts; ++part) {
      for (size_t visit = 0; visit < times * shape.visits[m]; ++visit) {
        for (size_t i = 0; i < shape.steps; ++i)
          put(StepKind::work, 100, 0), put(StepKind::work, 1, 1);
        put(StepKind::signal, 0, 0);
      }
      put(StepKind::signal, 0, static_cast<uint32_t>(1 + part));
      // All go on when the last has come.
      const size_t late = most - shape.visits[m];
      if (late > 0) put(StepKind::idle, static_cast<int64_t>(101 * shape.steps * times * late), 1);
      put(StepKind::gate, 0, static_cast<uint32_t>(1 + part));
    }
  }
  return graph;
}

/// By member, what all of its work takes.
std::vector<double> balanced(const EventGraph& graph) {
  Alone alone;
  replay::Run run;
  run.ranks = &alone;
  run.regions.resize(2);
  for (size_t region : {0, 1}) run.callpaths.child(CallPathId::none(), RegionId(region));
  run.timelines.resize(graph.steps.size());
  OtherTimes times(graph.steps.size());
  balance(run, graph, {CallPathId(0)}, {graph.locations, Over::ranks}, times);
  std::vector<double> sums;
  for (size_t m = 0; m < times.size(); ++m) {
    double& sum = sums.emplace_back();
    for (size_t i = 0; i < times[m]->size(); ++i) {
      const Step& step = graph.steps[m][i];
      const bool works = step.kind() == StepKind::work;
      if ((*times[m])[i] != kAsItWas) {
        sum += (*times[m])[i];
      } else if (works) {
        sum += static_cast<double>(step.amount);
      }
    }
  }
  return sums;
}

const std::vector<Shape> kShapes = {
    {"even", {16, 16}},
    {"uneven", {16, 17}},
    {"one and many", {1, 32}},
    {"none and many", {0, 32}},
    {"many members", {1, 2, 3, 4, 5, 6}},
    {"many parts", {1, 2}, 8},
    {"many steps", {1, 3}, 1, 8},
};

TEST(Balance, GivesAllTheSame) {
  for (const Shape& shape : kShapes) {
    const std::vector<double> sums = balanced(graph_of(shape, 3));
    for (const double sum : sums) EXPECT_NEAR(sum, sums[0], 1e-6 * sums[0] + 1) << shape.name;
  }
}

// Four times as many visits: four times the work.
TEST(Balance, CostsAsMuchAsThereAreSteps) {
  for (const Shape& shape : kShapes) {
    const EventGraph few = graph_of(shape, 1), many = graph_of(shape, 4);
    const auto once = testing_support::instructions_of([&] { balanced(few); }, 400'000);
    ASSERT_TRUE(once) << shape.name;
    EXPECT_TRUE(testing_support::instructions_of([&] { balanced(many); }, *once * 9 / 2))
        << shape.name << ": more than " << *once * 9 / 2;
  }
}

}  // namespace
}  // namespace culprit::predict
