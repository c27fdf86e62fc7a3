// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "blame/judge/summary.h"

#include <gtest/gtest.h>

#include "samples.h"

namespace culprit::report {
namespace {

TEST(Blamed, JoinsLocationsAndPatternsOfACallPath) {
  const auto list = blamed(hybrid_chain());
  ASSERT_EQ(list.size(), 3u);
  EXPECT_EQ(list[0].callpath, CallPathId(1));
  EXPECT_DOUBLE_EQ(list[0].short_s, 7.75);
  EXPECT_DOUBLE_EQ(list[0].long_s, 5.25);
  ASSERT_EQ(list[0].shares.size(), 2u);
  EXPECT_EQ(list[0].shares[0].location, LocationId(1));
  EXPECT_DOUBLE_EQ(list[0].shares[0].time_s, 11.25);
  ASSERT_EQ(list[0].victims.size(), 2u);
  EXPECT_EQ(list[0].victims[0].pattern, "omp.barrier");
  EXPECT_EQ(list[0].victims[0].shares[0].location, LocationId(0));
}

TEST(Blamed, HasItsEffectsFromTheDelaysWhoeverTheExamplesAre) {
  blame::Findings findings = hybrid_chain();
  findings.victims = {{CallPathId(1), LocationId(0), "mpi.late_sender", CallPathId(5),
                       LocationId(2), 1.75}};  // of the cheaper one alone
  const blame::Blamed first = blamed(findings).front();
  ASSERT_EQ(first.effects.size(), 2u);
  EXPECT_EQ(first.effects[0].pattern, "omp.barrier");
  EXPECT_DOUBLE_EQ(first.effects[0].short_s, 6);
  EXPECT_DOUBLE_EQ(first.effects[0].cost_s(), 11.25);
  EXPECT_DOUBLE_EQ(first.effects[1].cost_s(), 1.75);
}

TEST(Blamed, LosesNothing) {
  double sum = 0;
  for (const blame::Blamed& group : blamed(hybrid_chain())) sum += group.cost_s();
  EXPECT_DOUBLE_EQ(sum, 16);
}

TEST(PatternSum, JoinsLocationsButNotPatterns) {
  blame::Findings findings = hybrid_chain();
  findings.waits.push_back({"mpi.late_sender", CallPathId(5), LocationId(1), 4, 0.5, 0, 0});
  const auto list = suffered(findings);
  ASSERT_EQ(list.size(), 4u);
  EXPECT_EQ(list[0].pattern, "mpi.late_sender");
  EXPECT_DOUBLE_EQ(list[0].time_s, 7.5);
  EXPECT_EQ(list[0].count, 5u);
  EXPECT_EQ(list[0].shares.size(), 2u);
}

TEST(OnCriticalPath, NamesTheLocationsOfEachCallPath) {
  const auto list = on_critical_path(hybrid_chain());
  ASSERT_EQ(list.size(), 3u);
  EXPECT_DOUBLE_EQ(list[0].time_s, 8);
  EXPECT_DOUBLE_EQ(list[0].imbalance_s, 3);
  ASSERT_EQ(list[0].shares.size(), 1u);
  EXPECT_EQ(list[0].shares[0].location, LocationId(1));
}

TEST(WaitingByPattern, SumsUpToAllWaiting) {
  double sum = 0;
  for (const blame::PatternTotal& total : waiting_by_pattern(hybrid_chain())) sum += total.time_s;
  EXPECT_DOUBLE_EQ(sum, 16);
}

}  // namespace
}  // namespace culprit::report
