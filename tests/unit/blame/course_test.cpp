// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What a drawn run was doing in each part of it.
#include "blame/profile/time_series.h"

#include <gtest/gtest.h>

#include "blame/analyze.h"
#include "blame/profile/equal_parts.h"
#include "tests/support/text/text.h"

namespace culprit::blame {
namespace {

TEST(EqualParts, ShareOutAStretch) {
  const EqualParts parts(Time::from_nanos(5), Duration::from_nanos(10), 4);
  EXPECT_EQ(parts.edge(0), Time::from_nanos(5));
  EXPECT_EQ(parts.edge(1), Time::from_nanos(7));
  EXPECT_EQ(parts.edge(4), Time::from_nanos(15));
  std::string shares;
  parts.split(Time::from_nanos(6), Time::from_nanos(15), [&](size_t part, Duration time) {
    shares += std::to_string(part) + ":" + std::to_string(time.nanos()) + " ";
  });
  EXPECT_EQ(shares, "0:1 1:3 2:2 3:3 ");
}

TEST(Course, HasFewerIntervalsWhereThereAreManyLocations) {
  EXPECT_EQ(series_intervals(8), 200u);
  EXPECT_EQ(series_intervals(4096), 100u);
  EXPECT_EQ(series_intervals(100'000), 50u);
}

/// Ten seconds in 200 parts: 20 a second. Rank 1 receives from 3 to 7 and waits until 6.
Findings findings() {
  const auto trace = trace::TextTrace::parse(R"(
unit 1s
regions
  c comp
  S main/MPI_Send
  R main/MPI_Recv
  m main
lanes
  0.0 |ccccccSmmm
  1.0 |cccRRRRmmm
events
  send 0.0@6 -> 1.0@3
)");
  EXPECT_TRUE(trace.ok());
  const auto found = analyze(*trace.value(), {.threads = 1}, {});
  EXPECT_TRUE(found.ok());
  return found.value();
}

TEST(Course, TellsLocationsOverTime) {
  const Findings f = findings();
  EXPECT_EQ(f.run.intervals, 200u);
  ASSERT_EQ(f.location_times.size(), 400u);
  const FoundLocationTime& row = f.location_times[200 + 70];  // rank 1 at 3.5 s
  EXPECT_EQ(row.location, LocationId(1));
  EXPECT_EQ(row.interval, 70u);
  EXPECT_DOUBLE_EQ(row.time_s, 0.05);
  EXPECT_DOUBLE_EQ(row.waiting_s, 0.05);
  EXPECT_EQ(f.callpaths[row.callpath.index()].region, "MPI_Recv");
  EXPECT_EQ(f.location_times[200 + 130].waiting_s, 0);  // at 6.5 s
}

TEST(Course, TellsCallPathsOverTime) {
  const Findings f = findings();
  double receive_s = 0, waiting_s = 0;
  for (const FoundCallPathTime& row : f.callpath_times) {
    if (f.callpaths[row.callpath.index()].region != "MPI_Recv") continue;
    EXPECT_EQ(row.location, LocationId(1));
    EXPECT_GE(row.interval, 60u);
    EXPECT_LT(row.interval, 140u);
    receive_s += row.time_s;
    waiting_s += row.waiting_s;
  }
  EXPECT_NEAR(receive_s, 4, 1e-9);
  EXPECT_NEAR(waiting_s, 3, 1e-9);
}

// Rank 0 spins until rank 1 has worked: they share memory.
TEST(Course, TellsWhatOthersOfTheNodeDidWhileAProcessSpun) {
  const auto trace = trace::TextTrace::parse(R"(
unit 1s
regions
  c main/comp
  w main/work
  s main/await/(spinning)
  B main/MPI_Barrier
lanes
  0.0 |cssssssssBc
  1.0 |wwwwwwwwwBc
events
  barrier 0.0@9 1.0@9
)");
  ASSERT_TRUE(trace.ok());
  const auto found = analyze(*trace.value(), {.threads = 1}, {});
  ASSERT_TRUE(found.ok());
  const auto spun = std::find_if(found->unexplained.begin(), found->unexplained.end(),
                                 [](const auto& row) { return row.kind == Unexplained::spinning; });
  ASSERT_NE(spun, found->unexplained.end());
  const FoundUnexplained& row = *spun;
  ASSERT_TRUE(row.meanwhile.valid());
  EXPECT_EQ(found->callpaths[row.meanwhile.index()].region, "work");
  EXPECT_EQ(row.meanwhile_at, LocationId(1));
  EXPECT_DOUBLE_EQ(row.meanwhile_s, 8);
}

// A pool's thread is called twice; in between it waits for the master all the time.
TEST(Course, AWaitForMostOfTheRunIsNotOnce) {
  const auto trace = trace::TextTrace::parse(R"(
unit 1s
regions
  c main/comp
  m main
  w main/!$omp parallel/work
  B main/!$omp parallel/!$omp implicit barrier
lanes
  0.0 |mwBcccccccccccccccccccccccccccccccccccccwBm
  0.1 |.wB.....................................wB.
events
  fork 0.0@1-3: 0.0 0.1
  fork 0.0@40-42: 0.0 0.1
)");
  ASSERT_TRUE(trace.ok());
  const auto found = analyze(*trace.value(), {.threads = 1}, {});
  ASSERT_TRUE(found.ok());
  size_t rows = 0;
  for (const FoundDistribution& row : found->distributions) {
    if (found->callpaths[row.callpath.index()].region != "comp") continue;
    EXPECT_EQ(row.course, Course::steady);
    ++rows;
  }
  EXPECT_EQ(rows, 1u);
}

// No call has most of the waiting, so the run is divided into equal parts. That rank 1 is late from
// the end of MPI_Init on is nothing to be told.
TEST(Course, StartUpIsNoTimeBeforeSomethingBegan) {
  const char* const calls = "ABC";
  std::string first(40, 'I'), second(40, 'I'), events;
  for (size_t i = 0; i < 48; ++i) {
    const char call = calls[i % 3];
    const size_t begin = first.size();
    (first += 'c').append(3, call);
    second.append(3, 'c') += call;
    events +=
        "  barrier 0.0@" + std::to_string(begin + 1) + " 1.0@" + std::to_string(begin + 3) + "\n";
  }
  const auto trace = trace::TextTrace::parse(
      "unit 1s\nregions\n  I main/MPI_Init\n  c main/comp\n  A main/a/MPI_Barrier\n"
      "  B main/b/MPI_Barrier\n  C main/c/MPI_Barrier\nlanes\n  0.0 |" +
      first + "c\n  1.0 |" + second + "c\nevents\n" + events);
  ASSERT_TRUE(trace.ok());
  const auto found = analyze(*trace.value(), {.threads = 1}, {});
  ASSERT_TRUE(found.ok());
  size_t rows = 0;
  for (const FoundDistribution& row : found->distributions) {
    if (found->callpaths[row.callpath.index()].region != "comp") continue;
    EXPECT_EQ(row.steps_are, StepKind::slice);
    EXPECT_EQ(row.course, Course::steady);
    ++rows;
  }
  EXPECT_EQ(rows, 1u);
}

// Rank 0 has less in each of its writes, which wait for nobody, and waits when all close the file.
TEST(Course, AWaitThatIsTheFirstInALongTimeIsNotOnce) {
  const auto trace = trace::TextTrace::parse(R"(
unit 1s
regions
  c main/comp
  W main/MPI_File_write
  B main/MPI_Barrier
lanes
  0.0 |cWcWcWcWcWcWcWcBBBBBBBBBBBBBBBBBBBBBBBBBBBBBc
  1.0 |ccccccWccccccWccccccWccccccWccccccWccccccWcBc
events
  barrier 0.0@15 1.0@43
)");
  ASSERT_TRUE(trace.ok());
  const auto found = analyze(*trace.value(), {.threads = 1}, {});
  ASSERT_TRUE(found.ok());
  size_t rows = 0;
  for (const FoundDistribution& row : found->distributions) {
    if (found->callpaths[row.callpath.index()].region != "comp") continue;
    EXPECT_EQ(row.course, Course::steady);
    ++rows;
  }
  EXPECT_EQ(rows, 1u);
}

}  // namespace
}  // namespace culprit::blame
