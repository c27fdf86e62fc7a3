// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The rules by which functions fill the time between constructs.

#include "assemble/play/timeline.h"

#include <gtest/gtest.h>

#include "assemble/openmp/teams.h"
#include "listing.h"

namespace culprit::assemble::test {
namespace {

constexpr RegionId kMain(0), kA(1), kB(2), kC(3), kParallel(4), kBarrier(5);

Time at(int64_t ns) {
  return Time::from_nanos(ns);
}

trace::Definitions one_location() {
  trace::Definitions definitions;
  for (const char* name : {"main", "A", "B", "C", "parallel", "barrier"}) {
    definitions.regions.push_back({name, {}, {}, "", 0});
  }
  definitions.locations.emplace_back().process = ProcessId(0);
  return definitions;
}

class TimelineTest : public testing::Test {
 protected:
  TimelineTest() : sink_(listing_.open(LocationId(0))), timeline(*sink_) {
    timeline.enter(at(0), Level::root, kMain);
  }
  std::string text() {
    timeline.leave(at(100), 0);
    return listing_.text("0.0");
  }

  Listing listing_{one_location()};
  std::unique_ptr<trace::EventSink> sink_;
  Timeline timeline;
};

TEST_F(TimelineTest, WithoutSamplesWhatBothSawIsKept) {
  timeline.observe(at(10), {{kMain, kA, kB}, false});
  timeline.observe(at(30), {{kMain, kA, kC}, false});
  EXPECT_EQ(text(), "0 main\n10   A\n10     B\n10     -\n30     C\n30     -\n30   -\n100 -\n");
}

TEST_F(TimelineTest, TheInnermostFunctionAloneCutsOrExtends) {
  timeline.observe(at(10), {{kMain, kA, kB}, false});
  const RegionId a[] = {kA};
  timeline.observe_innermost(at(20), a, 0, true);
  const RegionId c[] = {kC};
  timeline.observe_innermost(at(30), c, 0, true);
  EXPECT_EQ(text(), "0 main\n10   A\n10     B\n10     -\n20   -\n30   C\n30   -\n100 -\n");
}

TEST_F(TimelineTest, AnUncertainFunctionIsNotAdded) {
  timeline.observe(at(10), {{kMain, kA}, false});
  const RegionId c[] = {kC};
  timeline.observe_innermost(at(30), c, 0, false);
  EXPECT_EQ(text(), "0 main\n10   A\n10   -\n100 -\n");
}

TEST_F(TimelineTest, InsideAParallelRegionPathsHangUnderIt) {
  timeline.observe(at(10), {{kMain, kA}, false});
  timeline.enter(at(10), Level::parallel, kParallel, 1);
  timeline.sample(at(20), {});
  const UserPath in_region{{kB}, true};
  timeline.sample(at(30), in_region);
  const UserPath serialized{{kMain, kA, kC}, false};
  timeline.sample(at(50), serialized);
  timeline.leave(at(60), 2);
  EXPECT_EQ(text(),
            "0 main\n10   A\n10     parallel\n20       B\n40       -\n40       C\n55       -\n"
            "60     -\n60   -\n100 -\n");
}

TEST_F(TimelineTest, SamplesInABarrierSayNothing) {
  timeline.enter(at(10), Level::sync, kBarrier);
  const UserPath path{{kMain, kA}, false};
  timeline.sample(at(20), path);
  timeline.leave(at(30), 1);
  EXPECT_EQ(text(), "0 main\n10   barrier\n30   -\n100 -\n");
}

TEST_F(TimelineTest, SamplesInACallShowWhatItCallsBack) {
  timeline.set_period(4);
  timeline.observe(at(10), {{kMain, kA}, false});
  timeline.enter(at(10), Level::call, kC);
  const UserPath called_back{{kMain, kA, kC, kB}, false};
  const UserPath of_the_call{{kMain, kA, kC}, false}, elsewhere{{kMain, kA, kB}, false};
  timeline.sample(at(15), of_the_call);
  timeline.sample(at(16), elsewhere);
  timeline.sample(at(20), called_back);
  timeline.sample(at(25), called_back);
  timeline.sample(at(39), called_back);
  timeline.leave(at(40), 2);
  EXPECT_EQ(text(),
            "0 main\n10   A\n10     C\n18       B\n27       -\n37       B\n40       -\n40     -\n"
            "40   -\n100 -\n");
}

TEST_F(TimelineTest, SleepInWhatACallCallsBackHangsUnderIt) {
  timeline.set_period(4);
  timeline.observe(at(10), {{kMain, kA}, false});
  timeline.enter(at(10), Level::call, kC);
  const UserPath called_back{{kMain, kA, kC, kB}, false};
  timeline.sample(at(14), called_back);
  timeline.observe(at(20), called_back);
  timeline.stay(at(30));
  timeline.sample(at(34), called_back);
  timeline.leave(at(40), 2);
  EXPECT_EQ(text(),
            "0 main\n10   A\n10     C\n12       B\n16       -\n20       B\n30       "
            "-\n32       B\n36       -\n40     -\n40   -\n100 -\n");
}

// Whatever is nested between: a task that is not there is found missing without a look at all.
TEST_F(TimelineTest, KnowsWhichTasksTheThreadIsIn) {
  constexpr uint64_t kTasks = 300;
  timeline.enter(at(10), Level::parallel, kParallel, 1);
  for (uint64_t task = 1; task <= kTasks; ++task) {
    timeline.enter(at(20), Level::task, kA, task);
    EXPECT_EQ(find_level(timeline, Level::task, task), task + 1);
  }
  for (uint64_t task = 1; task <= kTasks; ++task) {
    EXPECT_EQ(find_level(timeline, Level::task, task), task + 1);
  }
  uint64_t doubtful = 0;
  for (uint64_t task = kTasks + 1; task <= 4 * kTasks; ++task) {
    EXPECT_EQ(find_level(timeline, Level::task, task), Timeline::npos);
    doubtful += timeline.may_be_in_task(task) ? 1 : 0;
  }
  EXPECT_LT(doubtful, 3 * kTasks / 2);
  timeline.leave(at(30), kTasks / 2 + 2);
  EXPECT_NE(find_level(timeline, Level::task, kTasks / 2), Timeline::npos);
  EXPECT_EQ(find_level(timeline, Level::task, kTasks / 2 + 1), Timeline::npos);
  timeline.leave(at(40), 1);
  for (uint64_t task = 1; task <= kTasks; ++task) EXPECT_FALSE(timeline.may_be_in_task(task));
  timeline.leave(at(50), 0);
}

TEST_F(TimelineTest, TimeNeverGoesBack) {
  timeline.enter(at(50), Level::call, kA);
  timeline.leave(at(40), 1);
  EXPECT_EQ(text(), "0 main\n50   A\n50   -\n100 -\n");
}

}  // namespace
}  // namespace culprit::assemble::test
