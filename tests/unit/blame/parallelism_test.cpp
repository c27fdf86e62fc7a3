// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Idleness against overhead: the four readings, and what counts as what in a region.
#include "blame/judge/parallelism.h"

#include <gtest/gtest.h>

namespace culprit::blame {
namespace {

TEST(Parallelism, HasFourReadings) {
  EXPECT_EQ(advice_of(95, 3, 2), Granularity::effective);
  EXPECT_EQ(advice_of(80, 18, 2), Granularity::coarsen);
  EXPECT_EQ(advice_of(80, 2, 18), Granularity::refine);
  EXPECT_EQ(advice_of(60, 20, 20), Granularity::change);
  EXPECT_EQ(advice_of(0, 0, 0), Granularity::effective);
}

enum Path : size_t { kMain, kRegion, kSolve, kBarrier, kNested, kSerial };

/// A region with work, a barrier and another region in it, and a serial part.
Findings example() {
  Findings f;
  f.locations = {{.name = "0.0", .life_s = 10}, {.name = "0.1", .life_s = 10}};
  const auto path = [&](const char* region, CallPathId parent, const char* model) {
    f.callpaths.push_back({.region = region, .parent = parent, .model = model});
  };
  path("main", {}, "user");
  path("!$omp parallel @a.c:7", CallPathId(kMain), "openmp");
  path("solve", CallPathId(kRegion), "user");
  path("!$omp implicit barrier @a.c:7", CallPathId(kRegion), "openmp");
  path("!$omp parallel @a.c:9", CallPathId(kSolve), "openmp");
  path("serial", CallPathId(kMain), "user");
  const LocationId first(0), second(1);
  f.profile = {{CallPathId(kSerial), first, 1, 2}, {CallPathId(kSolve), first, 1, 6},
               {CallPathId(kNested), first, 1, 1}, {CallPathId(kBarrier), first, 1, 1},
               {CallPathId(kSolve), second, 1, 3}, {CallPathId(kBarrier), second, 1, 5}};
  f.waits = {{"omp.barrier", CallPathId(kBarrier), second, 1, 4}};
  f.idle_blame = {{CallPathId(kSolve), first, 4}, {CallPathId(kSerial), first, 2}};
  return f;
}

TEST(Parallelism, SumsUpRegions) {
  const std::vector<FoundParallelism> rows = rate_parallelism(example());
  ASSERT_EQ(rows.size(), 2u);  // a nested region belongs to the one around it
  EXPECT_FALSE(rows[0].callpath.valid());
  EXPECT_DOUBLE_EQ(rows[0].work_s, 12);
  EXPECT_DOUBLE_EQ(rows[0].overhead_s, 2);
  EXPECT_DOUBLE_EQ(rows[0].idle_s, 6);
  EXPECT_EQ(rows[1].callpath, CallPathId(kRegion));
  EXPECT_DOUBLE_EQ(rows[1].work_s, 10);
  EXPECT_DOUBLE_EQ(rows[1].overhead_s, 2);
  EXPECT_DOUBLE_EQ(rows[1].idle_s, 4);
  EXPECT_EQ(rows[1].advice, Granularity::change);
}

TEST(Parallelism, SaysNothingWithoutBlame) {
  Findings f = example();
  f.idle_blame.clear();
  EXPECT_TRUE(rate_parallelism(f).empty());
}

}  // namespace
}  // namespace culprit::blame
