// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What a device did over time: stretches are cut at the edges of parts to the nanosecond, and it
// does not matter who adds them.
#include "blame/device/device_time_series.h"

#include <gtest/gtest.h>

#include <numeric>

namespace culprit::blame {
namespace {

Time at(int64_t ns) {
  return Time::from_nanos(ns);
}

replay::Run run_from(int64_t begin, int64_t end) {
  replay::Run run;
  run.begin = at(begin);
  run.end = at(end);
  return run;
}

std::vector<FoundDeviceTime> written(const DeviceTimeSeries& course) {
  std::vector<FoundDeviceTime> rows;
  course.write(FoundDeviceId(3), rows);
  return rows;
}

/// A run of 500 ns from 1000 on: parts of 10 ns.
TEST(DeviceTimeSeries, CutsStretchesAtTheEdgesOfParts) {
  DeviceTimeSeries course(run_from(1000, 1500));
  course.busy(at(1005), at(1025));    // 5 of part 0, 10 of part 1, 5 of part 2
  course.kernel(at(1010), at(1020));  // all of part 1
  course.late(at(1025), at(1030), CallPathId(7), true);
  course.latency(at(1490), at(1496));  // part 49
  course.unknown(at(1496), at(1500));
  const auto rows = written(course);
  ASSERT_EQ(rows.size(), 4u);
  EXPECT_EQ(rows[0].device, FoundDeviceId(3));
  EXPECT_DOUBLE_EQ(rows[0].busy_s, 5e-9);
  EXPECT_DOUBLE_EQ(rows[0].kernels_s, 0);
  EXPECT_FALSE(rows[0].callpath.valid());
  EXPECT_DOUBLE_EQ(rows[1].begin_s, 10e-9);
  EXPECT_DOUBLE_EQ(rows[1].end_s, 20e-9);
  EXPECT_DOUBLE_EQ(rows[1].busy_s, 10e-9);
  EXPECT_DOUBLE_EQ(rows[1].kernels_s, 10e-9);
  EXPECT_DOUBLE_EQ(rows[2].busy_s, 5e-9);
  EXPECT_DOUBLE_EQ(rows[2].late_s, 5e-9);
  EXPECT_DOUBLE_EQ(rows[2].launching_s, 5e-9);
  EXPECT_EQ(rows[2].callpath, CallPathId(7));
  EXPECT_DOUBLE_EQ(rows[3].begin_s, 490e-9);
  EXPECT_DOUBLE_EQ(rows[3].latency_s, 6e-9);
  EXPECT_DOUBLE_EQ(rows[3].unknown_s, 4e-9);
}

/// Launch-bound from the half of a part on.
TEST(DeviceTimeSeries, TellsWherePartsAreLaunchBound) {
  DeviceTimeSeries course(run_from(0, 500));
  course.late(at(0), at(2), CallPathId(7), true);
  course.latency(at(2), at(5));
  course.busy(at(5), at(10));
  course.late(at(10), at(12), CallPathId(7), true);
  course.latency(at(12), at(14));
  course.late(at(14), at(20), CallPathId(7), false);
  const auto rows = written(course);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_TRUE(rows[0].launch_bound);
  EXPECT_FALSE(rows[1].launch_bound);
}

TEST(DeviceTimeSeries, NamesTheCodeThatTookMostOfEachPart) {
  DeviceTimeSeries course(run_from(0, 500));
  course.late(at(0), at(4), CallPathId(2), false);
  course.late(at(4), at(13), CallPathId(1), false);  // 6 of part 0, 3 of part 1
  course.late(at(13), at(20), CallPathId(2), false);
  const auto rows = written(course);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].callpath, CallPathId(1));
  EXPECT_DOUBLE_EQ(rows[0].callpath_s, 6e-9);
  EXPECT_EQ(rows[1].callpath, CallPathId(2));
  EXPECT_DOUBLE_EQ(rows[1].callpath_s, 7e-9);
  EXPECT_DOUBLE_EQ(rows[1].late_s, 10e-9);
  EXPECT_DOUBLE_EQ(rows[1].launching_s, 0);
}

/// Lengths that 50 does not divide, runs shorter than 50 ns, and of years.
TEST(DeviceTimeSeries, LosesNothingWhateverTheLength) {
  for (const int64_t wall : {int64_t{1}, int64_t{7}, int64_t{49}, int64_t{999'999'937},
                             int64_t{4'000'000'000'000'000'000}}) {
    DeviceTimeSeries course(run_from(-5, wall - 5));
    const int64_t middle = wall / 3 - 5;
    course.busy(at(-5), at(middle));
    course.unknown(at(middle), at(wall - 5));
    const auto rows = written(course);
    ASSERT_FALSE(rows.empty());
    double sum = 0;
    for (const FoundDeviceTime& row : rows) {
      sum += row.busy_s + row.unknown_s;
      EXPECT_NEAR(row.busy_s + row.unknown_s, row.end_s - row.begin_s, 1e-15 * 1e-9 * double(wall));
    }
    EXPECT_NEAR(sum, static_cast<double>(wall) * 1e-9, 1e-12 * 1e-9 * double(wall));
    EXPECT_DOUBLE_EQ(rows.back().end_s, static_cast<double>(wall) * 1e-9);
  }
}

TEST(DeviceTimeSeries, AddsWhatOtherRanksTell) {
  const replay::Run run = run_from(0, 500);
  DeviceTimeSeries whole(run), own(run), other(run), joined(run);
  for (DeviceTimeSeries* course : {&whole, &own}) {
    course->busy(at(0), at(15));
    course->late(at(20), at(26), CallPathId(4), true);
  }
  for (DeviceTimeSeries* course : {&whole, &other}) {
    course->late(at(26), at(30), CallPathId(5), false);
    course->late(at(30), at(40), CallPathId(4), false);
  }
  Packer packer;
  own.pack(packer), other.pack(packer), DeviceTimeSeries(run).pack(packer);
  const Parcel parcel = packer.take();
  Unpacker from(parcel);
  for (int i = 0; i < 3; ++i) joined.unpack(from);
  EXPECT_TRUE(from.done());
  const auto expected = written(whole), rows = written(joined);
  ASSERT_EQ(rows.size(), 4u);
  ASSERT_EQ(expected.size(), 4u);
  for (size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(rows[i].busy_s, expected[i].busy_s);
    EXPECT_EQ(rows[i].late_s, expected[i].late_s);
    EXPECT_EQ(rows[i].callpath, expected[i].callpath);
    EXPECT_EQ(rows[i].callpath_s, expected[i].callpath_s);
  }
}

}  // namespace
}  // namespace culprit::blame
