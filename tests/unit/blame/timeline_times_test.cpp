// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A run whose times are all moved must be the run of a trace whose clocks are all moved: if a time
// of a Timeline is forgotten in timeline_times.h, something comes out at another time here.
#include "replay/model/timeline_times.h"

#include <gtest/gtest.h>

#include "replay/model/run.h"
#include "replay/model/waits.h"
#include "tests/unit/blame/random_trace.h"

namespace culprit::replay {
namespace {

using testing_support::RandomTrace;

void move_all(Run& run, Duration by) {
  for (LocationId id : run.locations) {
    for_each_time(run.at(id), [by](Time& time) { time = time + by; });
    run.at(id).activities.set_end(run.end + by);
  }
  run.begin = run.begin + by;
  run.end = run.end + by;
}

void expect_same(const Timeline& a, const Timeline& b) {
  ASSERT_EQ(a.activities.size(), b.activities.size());
  for (size_t i = 0; i < a.activities.size(); ++i) {
    EXPECT_EQ(a.activities.begin(i), b.activities.begin(i));
    EXPECT_EQ(a.activities.end(i), b.activities.end(i));
    EXPECT_EQ(a.activities.path(i), b.activities.path(i));
  }
  EXPECT_EQ(a.first, b.first);
  EXPECT_EQ(a.last, b.last);
}

void expect_same(const Column<Wait>& a, const Column<Wait>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].begin, b[i].begin);
    EXPECT_EQ(a[i].end, b[i].end);
    EXPECT_EQ(a[i].amount, b[i].amount);
    EXPECT_EQ(a[i].path, b[i].path);
    EXPECT_EQ(a[i].cause, b[i].cause);
    EXPECT_EQ(a[i].pattern, b[i].pattern);
  }
}

TEST(TimelineTimes, AreAllOfThem) {
  const Duration by = Duration::from_nanos(123'456'789);
  for (uint32_t seed = 0; seed < 200; ++seed) {
    RandomTrace trace = RandomTrace::make(seed);
    Alone alone;
    auto moved = read_run(trace, alone, 1);
    trace.shift(by);
    auto other = read_run(trace, alone, 1);
    ASSERT_TRUE(moved.ok() && other.ok());
    move_all(*moved, by);
    const WaitGraph a = detect_waits(*moved, 1), b = detect_waits(*other, 1);
    for (LocationId id : moved->locations) {
      expect_same(moved->at(id), other->at(id));
      expect_same(a.waits[id.index()], b.waits[id.index()]);
      const Column<Sync>& syncs = a.syncs[id.index()];
      const Column<Sync>& others = b.syncs[id.index()];
      EXPECT_TRUE(std::equal(syncs.begin(), syncs.end(), others.begin(), others.end()));
    }
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace culprit::replay
