// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The analysis and an oracle that has nothing in common with it (oracle.h) say the same of random
// traces: who waited how long, and what each call path of each rank costs. And no wait is longer
// than what explains it.
#include <gtest/gtest.h>

#include <cmath>

#include "blame/analyze.h"
#include "tests/support/rank_threads.h"
#include "tests/unit/blame/oracle.h"
#include "tests/unit/blame/random_trace.h"
#include "tests/unit/blame/special_traces.h"

namespace culprit {
namespace {

using blame::Findings;
using testing_support::OracleAnswer;
using testing_support::RandomTrace;

std::map<std::pair<std::string, size_t>, double> costs_of(const Findings& found) {
  std::map<std::pair<std::string, size_t>, double> costs;
  for (const auto& row : found.delays) {
    costs[{found.callpaths[row.callpath.index()].name, row.location.index()}] +=
        row.short_s + row.long_s;
  }
  return costs;
}

void expect_near(double a, double b, const std::string& what) {
  EXPECT_NEAR(a, b, 1e-15 + 1e-9 * std::max(a, b)) << what;
}

void expect_same(const OracleAnswer& oracle, const Findings& found, const std::string& trace) {
  auto costs = costs_of(found);
  for (const auto& [place, cost] : oracle.costs_s) costs.try_emplace(place, 0.0);
  double all = 0, unattributed = 0;
  for (const auto& [place, cost] : costs) {
    const auto known = oracle.costs_s.find(place);
    const std::string what = trace + ": " + place.first + " on " + std::to_string(place.second);
    expect_near(known == oracle.costs_s.end() ? 0 : known->second, cost, what);
    all += cost;
  }
  double waiting = 0;
  for (size_t l = 0; l < found.locations.size(); ++l) {
    const auto known = oracle.waiting_s.find(l);
    const double expected = known == oracle.waiting_s.end() ? 0 : known->second;
    expect_near(expected, found.locations[l].waiting_s, trace + ": location " + std::to_string(l));
    waiting += expected;
  }
  for (const auto& row : found.unattributed) unattributed += row.time_s;
  expect_near(waiting, all + unattributed, trace + ": sum");
  EXPECT_EQ(oracle.unexplained, 0u) << trace;
  EXPECT_FALSE(found.losses.all().contains("unexplained_waits")) << trace;
  EXPECT_EQ(unattributed, 0) << trace;
}

TEST(Oracle, SaysTheSameOfRandomTraces) {
  size_t waits = 0;
  for (uint32_t seed = 0; seed < 1500; ++seed) {
    const RandomTrace trace = RandomTrace::make(seed, {.no_ties = true, .plain = true});
    const OracleAnswer oracle = testing_support::ask_oracle(trace);
    const auto found = blame::analyze(trace, {.threads = 1, .last_alone = true}, {});
    ASSERT_TRUE(found.ok());
    expect_same(oracle, found.value(), "seed " + std::to_string(seed));
    waits += oracle.waits;
    if (HasFailure()) return;
  }
  EXPECT_GT(waits, 30'000u);
}

TEST(Oracle, SaysTheSameOfSeveralRanks) {
  for (uint32_t seed = 0; seed < 100; ++seed) {
    const RandomTrace trace = RandomTrace::make(seed, {.no_ties = true, .plain = true});
    const OracleAnswer oracle = testing_support::ask_oracle(trace);
    testing_support::RankThreads(3).run([&](Transport& ranks) {
      const auto found =
          blame::analyze(trace, {.threads = 2, .last_alone = true, .ranks = &ranks}, {});
      ASSERT_TRUE(found.ok());
      if (ranks.rank() == 0) {
        expect_same(oracle, found.value(), "seed " + std::to_string(seed) + " on three ranks");
      }
    });
    if (HasFailure()) return;
  }
}

/// Four ranks in a ring: each iteration MPI_Sendrecv to the right and from the left; rank 0
/// computes 4 before each, the others nothing, and messages take no time. (The picture
/// ring_sendrecv draws calls that take some.)
class Ring final : public testing_support::PlayedTrace {
 public:
  Ring() : PlayedTrace(4, 1, "MPI_Sendrecv") {}
  Result<void> read(LocationId id, trace::EventSink& sink, Losses&) const override {
    const int64_t rank = static_cast<int64_t>(id.index());
    const auto at = [](int64_t seconds) { return Time::from_nanos(seconds * 1'000'000'000); };
    sink.enter(at(0), kMain);
    // When each enters its first, second and third call, and when it leaves the last.
    constexpr int64_t kTimes[4][4] = {{4, 8, 12, 12}, {0, 4, 8, 12}, {0, 0, 4, 8}, {0, 0, 0, 4}};
    for (int i = 0; i < 3; ++i) {
      const int64_t left = rank == 0 ? kTimes[0][i] : kTimes[rank][i + 1];
      sink.enter(at(kTimes[rank][i]), kCall);
      sink.mpi_send(at(kTimes[rank][i]), {CommId(0), static_cast<uint32_t>((rank + 1) % 4), 0, 8});
      sink.mpi_recv(at(left), {CommId(0), static_cast<uint32_t>((rank + 3) % 4), 0, 8});
      sink.leave(at(left), kCall);
    }
    sink.leave(at(kTimes[rank][3]), kMain);
    return {};
  }
};

/// Rank 1 waits 12, rank 2 8 and, at the end, 4; rank 3 4 and 8. Every cost is rank 0's.
TEST(Oracle, SaysWhoIsLateInARing) {
  const Ring ring;
  const auto found = blame::analyze(ring, {.threads = 1, .last_alone = true}, {});
  ASSERT_TRUE(found.ok());
  const auto costs = costs_of(found.value());
  ASSERT_EQ(costs.size(), 1u);
  EXPECT_EQ(costs.begin()->first.first, "main");
  EXPECT_EQ(costs.begin()->first.second, 0u);
  EXPECT_DOUBLE_EQ(costs.begin()->second, 36);
  const std::vector<double> waiting = {0, 12, 12, 12};
  for (size_t l = 0; l < waiting.size(); ++l) {
    EXPECT_DOUBLE_EQ(found.value().locations[l].waiting_s, waiting[l]);
  }
  expect_same(testing_support::ask_oracle(ring), found.value(), "the ring");
}

}  // namespace
}  // namespace culprit
