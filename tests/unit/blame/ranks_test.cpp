// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Several ranks find what one finds.
#include <gtest/gtest.h>

#include "blame/analyze.h"
#include "tests/support/rank_threads.h"
#include "tests/support/same_findings.h"
#include "tests/unit/blame/random_trace.h"
#include "tests/unit/blame/special_traces.h"

namespace culprit {
namespace {

using testing_support::RandomTrace;
using testing_support::RankThreads;

blame::Findings analyzed(const trace::Source& trace) {
  auto found = blame::analyze(trace, {.threads = 1}, {});
  EXPECT_TRUE(found.ok());
  return std::move(found).value();
}

TEST(Ranks, FindWhatOneFinds) {
  size_t rows = 0;
  for (uint32_t seed = 0; seed < 90; ++seed) {
    RandomTrace trace = RandomTrace::make(seed, {.no_ties = seed % 4 == 3});
    if (seed % 3 == 1) trace.make_chaotic(seed);
    if (seed % 3 == 2) trace.make_skewed(seed, true);
    const blame::Findings one = analyzed(trace);
    for (const size_t size : {2u, 3u, 7u}) {
      RankThreads(size).run([&](Transport& ranks) {
        auto found =
            blame::analyze(trace, {.threads = 1 + seed % 2, .verify = true, .ranks = &ranks}, {});
        ASSERT_TRUE(found.ok());
        if (ranks.rank() != 0) return;
        const std::string difference = testing_support::difference(one, *found);
        EXPECT_EQ(difference, "") << "seed " << seed << ", " << size << " ranks";
      });
      if (HasFailure()) return;
    }
    rows += one.waits.size() + one.delays.size() + one.victims.size() + one.segments.size();
  }
  EXPECT_GT(rows, 15'000u);
}

TEST(Ranks, FindWhatOneFindsOfPipes) {
  for (uint32_t seed = 0; seed < 20; ++seed) {
    const testing_support::RingOfPipes trace(seed);
    const blame::Findings one = analyzed(trace);
    EXPECT_FALSE(one.delays.empty());
    for (const size_t size : {2u, 3u, 7u}) {
      RankThreads(size).run([&](Transport& ranks) {
        auto found = blame::analyze(trace, {.threads = 1, .verify = true, .ranks = &ranks}, {});
        ASSERT_TRUE(found.ok());
        if (ranks.rank() != 0) return;
        EXPECT_EQ(testing_support::difference(one, *found), "") << "seed " << seed;
      });
      if (HasFailure()) return;
    }
  }
}

}  // namespace
}  // namespace culprit
