// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// GOAL schedules of drawn runs, small enough to write the expected text by hand; and a simulator of
// a few lines that executes schedules of larger ones, in which nothing is missing and nothing waits
// for itself.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "predict/goal/goal_program.h"
#include "replay/model/run.h"
#include "tests/bench/generate/generate.h"
#include "tests/support/text/text.h"

namespace culprit::predict {
namespace {

std::vector<GoalProcess> program_of(const trace::Source& source) {
  Losses losses;
  auto program = goal_program(source, 2, losses);
  EXPECT_TRUE(program.ok());
  return program.ok() ? std::move(program).value() : std::vector<GoalProcess>();
}

std::vector<GoalProcess> drawn(std::string_view picture) {
  const auto trace = trace::TextTrace::parse(picture);
  EXPECT_TRUE(trace.ok()) << trace.error().sentence;
  return trace.ok() ? program_of(**trace) : std::vector<GoalProcess>();
}

/// When each process is done, where a message takes `latency` and sending nothing. An operation
/// that never gets its turn fails the test.
std::vector<uint64_t> executed(const std::vector<GoalProcess>& all, uint64_t latency) {
  using Key = std::tuple<size_t, size_t, uint32_t>;  // from, to, tag
  constexpr uint64_t kNever = ~uint64_t{0};
  std::map<Key, uint64_t> arrival;
  std::vector<std::vector<uint64_t>> begin, end;
  for (const GoalProcess& each : all) {
    begin.emplace_back(each.ops.size(), kNever);
    end.emplace_back(each.ops.size(), kNever);
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t p = 0; p < all.size(); ++p) {
      size_t next = 0;
      for (uint32_t op = 0; op < all[p].ops.size(); ++op) {
        uint64_t ready = 0;
        for (; next < all[p].dependencies.size() && all[p].dependencies[next].op == op; ++next) {
          const GoalDependency& each = all[p].dependencies[next];
          ready = std::max(ready, (each.to_begin ? begin : end)[p][each.on]);
        }
        if (ready == kNever || end[p][op] != kNever) continue;
        const GoalOp& what = all[p].ops[op];
        const Key incoming{what.peer, p, what.tag};
        if (begin[p][op] == kNever) changed = true;
        begin[p][op] = ready;
        if (what.kind == GoalOp::Kind::calc) end[p][op] = ready + what.amount;
        if (what.kind == GoalOp::Kind::send) {
          end[p][op] = ready;
          EXPECT_TRUE(arrival.emplace(Key{p, what.peer, what.tag}, ready + latency).second);
        }
        if (what.kind == GoalOp::Kind::recv) {
          const auto come = arrival.find(incoming);
          if (come == arrival.end()) continue;
          end[p][op] = std::max(ready, come->second);
          arrival.erase(come);
        }
        changed = true;
      }
    }
  }
  EXPECT_TRUE(arrival.empty());
  std::vector<uint64_t> done;
  for (const auto& times : end) {
    done.push_back(times.empty() ? 0 : *std::max_element(times.begin(), times.end()));
    EXPECT_NE(done.back(), kNever) << "process " << done.size() - 1;
  }
  return done;
}

TEST(Goal, HasWorkAndNotWaiting) {
  EXPECT_EQ(goal_text(drawn(R"(
unit 1s
regions
  c comp
  S main/MPI_Send
  R main/MPI_Recv
  m main
lanes
  0.0 |ccccccSmmm
  1.0 |cccRRRRmm
events
  send 0.0@6 -> 1.0@3
)")),
            R"(num_ranks 2

rank 0 {
l0: calc 6000000000
l1: send 8b to 1 tag 0
l1 requires l0
l2: calc 3000000000
l2 requires l0
l2 requires l1
}

rank 1 {
l0: calc 3000000000
l1: recv 8b from 0 tag 0
l1 requires l0
l2: calc 2000000000
l2 requires l0
l2 requires l1
}
)");
}

TEST(Goal, LetsWorkGoOnBesideMessages) {
  // Without the Irecv's work beside it the receiver would need 11 s; the Wait is no work.
  const auto program = drawn(R"(
unit 1s
regions
  c comp
  I MPI_Irecv
  W MPI_Wait
  S MPI_Send
lanes
  0.0 |IccccWWWcc
  1.0 |cccccccSc
events
  send 1.0@7 -> irecv 0.0@0 wait 5
)");
  EXPECT_EQ(executed(program, 0), (std::vector<uint64_t>{9'000'000'000, 8'000'000'000}));
  EXPECT_EQ(executed(program, 2'000'000'000)[0], 11'000'000'000u);
}

TEST(Goal, DoesNotTakePollingForWork) {
  const auto program = drawn(R"(
unit 1s
regions
  c comp
  I MPI_Irecv
  T MPI_Test
  S MPI_Send
lanes
  0.0 |ITcTTTTTTcc
  1.0 |cccccccSc
events
  send 1.0@7 -> irecv 0.0@0 wait 3
)");
  // Two seconds of work at the end, one between the tests.
  uint64_t work = 0;
  for (const GoalOp& op : program[0].ops) {
    if (op.kind == GoalOp::Kind::calc) work += op.amount;
  }
  EXPECT_EQ(work, 3'000'000'000u);
}

TEST(Goal, KeepsCallsOfSeveralThreadsInTheirOrder) {
  // Rank 0's first thread receives what rank 1 sends once it has got the second thread's message.
  const auto program = drawn(R"(
unit 1s
regions
  c comp
  S MPI_Send
  R MPI_Recv
lanes
  0.0 |RRRRRRcc
  0.1 |ccSccccc
  1.0 |RRRRScc
events
  send 1.0@4 -> 0.0@0 tag 1
  send 0.1@2 -> 1.0@0 tag 2
)");
  // Of the second thread's 2 s of work, what follows there, and what follows on rank 0.
  EXPECT_EQ(executed(program, 100'000'000), (std::vector<uint64_t>{4'200'000'000, 4'100'000'000}));
}

/// Five ranks that work 1, 5, 2, 4 and 3 s and meet in one operation; when they are done.
std::vector<uint64_t> met_in(const std::string& operation) {
  const auto program = drawn(R"(
unit 1s
regions
  c comp
  X MPI_Something
lanes
  0.0 |cXXXXXX
  1.0 |cccccXX
  2.0 |ccXXXXX
  3.0 |ccccXXX
  4.0 |cccXXXX
events
  )" + operation + " 0.0@1 1.0@5 2.0@2 3.0@4 4.0@3\n");
  std::vector<uint64_t> seconds = executed(program, 0);
  for (uint64_t& time : seconds) time /= 1'000'000'000;
  return seconds;
}

TEST(Goal, LetsCollectivesWaitForWhomTheyMust) {
  using Times = std::vector<uint64_t>;
  for (const char* all : {"barrier", "allreduce", "allgather", "alltoall", "reduce_scatter"}) {
    EXPECT_EQ(met_in(all), (Times{5, 5, 5, 5, 5})) << all;
  }
  // Of the tree below rank 2: 3, 4 and 1; below rank 3: 0.
  EXPECT_EQ(met_in("bcast root 2"), (Times{4, 5, 2, 4, 3}));
  EXPECT_EQ(met_in("reduce root 2"), (Times{1, 5, 5, 4, 3}));
  EXPECT_EQ(met_in("scatter root 2"), (Times{2, 5, 2, 4, 3}));
  EXPECT_EQ(met_in("gather root 2"), (Times{1, 5, 5, 4, 3}));
  EXPECT_EQ(met_in("scan"), (Times{1, 5, 5, 5, 5}));
}

TEST(Goal, ReducesAPowerOfTwoByRecursiveDoubling) {
  const auto program = drawn(R"(
unit 1s
regions
  c comp
  X MPI_Allreduce
lanes
  0.0 |cXXXX
  1.0 |cccXX
  2.0 |cXXXX
  3.0 |cXXXX
events
  allreduce 0.0@1 1.0@3 2.0@1 3.0@1
)");
  std::vector<std::vector<uint32_t>> partners;
  for (const GoalProcess& each : program) {
    partners.emplace_back();
    for (const GoalOp& op : each.ops) {
      if (op.kind == GoalOp::Kind::send) partners.back().push_back(op.peer);
    }
  }
  EXPECT_EQ(partners, (std::vector<std::vector<uint32_t>>{{1, 2}, {0, 3}, {3, 0}, {2, 1}}));
  // Rank 1 is last, when the others' data has come to it already.
  EXPECT_EQ(executed(program, 1'000'000'000),
            (std::vector<uint64_t>{4'000'000'000, 3'000'000'000, 5'000'000'000, 4'000'000'000}));
}

TEST(Goal, OfATokenRingTakesAsLongAsTheRun) {
  const auto trace = bench::synthetic_trace(*bench::find_pattern("token_ring"),
                                            {.ranks = 5, .threads = 1, .iterations = 3, .seed = 1});
  const auto program = program_of(*trace);
  // A turn is 1 us of work and 300 ns for the message: 15 turns.
  EXPECT_EQ(executed(program, 300)[0], 15u * 1'300);
  EXPECT_EQ(executed(program, 400)[0], 15u * 1'400);
}

TEST(Goal, OfAnyProgramCanBeExecutedInNoMoreThanItsTime) {
  for (const bench::PatternKind& kind : bench::pattern_kinds()) {
    SCOPED_TRACE(kind.name);
    const auto trace =
        bench::synthetic_trace(kind, {.ranks = 6, .threads = 3, .iterations = 12, .seed = 5});
    Losses losses;
    Alone alone;
    const auto run = replay::read_run(*trace, alone, 1);
    ASSERT_TRUE(run.ok());
    const auto done = executed(program_of(*trace), 0);
    EXPECT_LE(*std::max_element(done.begin(), done.end()),
              static_cast<uint64_t>(run->wall().nanos()));
  }
}

}  // namespace
}  // namespace culprit::predict
