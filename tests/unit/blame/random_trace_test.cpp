// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Properties that hold for every trace, whatever it says: the identities of the analysis, and that
// results do not depend on the number of threads.
#include <gtest/gtest.h>

#include <cmath>

#include "blame/analyze.h"
#include "tests/unit/blame/random_trace.h"

namespace culprit {
namespace {

using blame::Findings;
using testing_support::RandomTrace;

Findings analyzed(const RandomTrace& trace, unsigned threads) {
  auto found = blame::analyze(trace, {threads}, {});
  EXPECT_TRUE(found.ok());
  return std::move(found).value();
}

/// The identities, recomputed from the rows and not from what analyze() says of itself.
void expect_identities(const Findings& found, uint32_t seed) {
  double waiting = 0, costs = 0, path = 0, imbalance = 0;
  for (const auto& row : found.waits) {
    waiting += row.time_s;
    EXPECT_GE(row.indirect_s, -1e-15) << "seed " << seed;
    EXPECT_LE(row.indirect_s, row.time_s + 1e-15) << "seed " << seed;
    EXPECT_GE(row.propagating_s, -1e-15) << "seed " << seed;
    EXPECT_LE(row.propagating_s, row.time_s + 1e-15) << "seed " << seed;
  }
  for (const auto& row : found.delays) costs += row.short_s + row.long_s;
  for (const auto& row : found.unattributed) costs += row.time_s;
  for (const auto& row : found.critical_callpaths) {
    path += row.time_s;
    imbalance += row.intra_s + row.inter_s;
  }
  const double slack = 1e-15 + 1e-9 * waiting;
  EXPECT_NEAR(waiting, costs, slack) << "seed " << seed;
  EXPECT_NEAR(path, found.run.wall_s, 1e-15 + 1e-9 * path) << "seed " << seed;
  EXPECT_NEAR(imbalance + found.identities.imbalance_unattributed_s, waiting, slack)
      << "seed " << seed;
  double idle = 0;
  for (const auto& row : found.idle_blame) idle += row.time_s;
  for (const auto& row : found.idle_nobody) idle += row.time_s;
  for (const auto& row : found.waits) {
    if (row.pattern.starts_with("omp.")) idle -= row.time_s;  // there are no locks here
  }
  EXPECT_NEAR(idle, 0, slack) << "seed " << seed;
  for (size_t i = 1; i < found.segments.size(); ++i) {
    EXPECT_EQ(found.segments[i - 1].end_s, found.segments[i].begin_s) << "seed " << seed;
  }
  for (const std::string& sentence : found.identities.violations) {
    ADD_FAILURE() << "seed " << seed << ": " << sentence;
  }
}

TEST(RandomTraces, KeepTheIdentities) {
  for (uint32_t seed = 0; seed < 3000; ++seed) {
    expect_identities(analyzed(RandomTrace::make_plausible(seed), 1), seed);
    if (HasFailure()) return;
  }
}

TEST(RandomTraces, KeepTheIdentitiesWhenClocksLie) {
  for (uint32_t seed = 0; seed < 3000; ++seed) {
    RandomTrace trace = RandomTrace::make_plausible(seed);
    trace.make_chaotic(seed);
    expect_identities(analyzed(trace, 1), seed);
    if (HasFailure()) return;
  }
}

TEST(RandomTraces, MatchEveryMessage) {
  for (uint32_t seed = 0; seed < 500; ++seed) {
    const Findings found = analyzed(RandomTrace::make_plausible(seed), 1);
    EXPECT_TRUE(found.losses.all().empty()) << "seed " << seed;
  }
}

TEST(RandomTraces, DoNotDependOnThreads) {
  for (uint32_t seed = 0; seed < 200; ++seed) {
    const RandomTrace trace = RandomTrace::make_plausible(seed);
    const Findings one = analyzed(trace, 1), five = analyzed(trace, 5);
    ASSERT_EQ(one.waits.size(), five.waits.size());
    ASSERT_EQ(one.delays.size(), five.delays.size());
    for (size_t i = 0; i < one.delays.size(); ++i) {
      EXPECT_EQ(one.delays[i].callpath, five.delays[i].callpath);
      EXPECT_EQ(one.delays[i].location, five.delays[i].location);
      EXPECT_EQ(one.delays[i].short_s, five.delays[i].short_s);  // to the last bit
      EXPECT_EQ(one.delays[i].long_s, five.delays[i].long_s);
    }
    ASSERT_EQ(one.idle_blame.size(), five.idle_blame.size());
    for (size_t i = 0; i < one.idle_blame.size(); ++i) {
      EXPECT_EQ(one.idle_blame[i].callpath, five.idle_blame[i].callpath);
      EXPECT_EQ(one.idle_blame[i].time_s, five.idle_blame[i].time_s);
    }
    ASSERT_EQ(one.instances.size(), five.instances.size());
    for (size_t i = 0; i < one.instances.size(); ++i) {
      EXPECT_EQ(one.instances[i].begin_s, five.instances[i].begin_s);
      EXPECT_EQ(one.instances[i].location, five.instances[i].location);
    }
    ASSERT_EQ(one.distributions.size(), five.distributions.size());
    for (size_t i = 0; i < one.distributions.size(); ++i) {
      EXPECT_EQ(one.distributions[i].shape, five.distributions[i].shape);
      EXPECT_EQ(one.distributions[i].same_place, five.distributions[i].same_place);
    }
  }
}

}  // namespace
}  // namespace culprit
