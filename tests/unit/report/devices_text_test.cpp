// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What the report says about devices: when they were busy, what kept them idle, and what there is
// to gain.
#include <gtest/gtest.h>

#include <sstream>

#include "blame/judge/diagnose.h"
#include "report/formats.h"

namespace culprit::report {
namespace {

using blame::FoundDeviceId;

constexpr CallPathId kPrepare(0), kWork(1), kKernel(2), kLaunch(3);
constexpr LocationId kHost(0), kStream(1);

/// 50 s, in parts of 1 s: 10 of `prepare`, 20 in which a kernel runs half the time, 10 of launches
/// that are under way, 5 of which nobody knows, 5 of `work`.
blame::Findings late_device() {
  blame::Findings f;
  f.run.program = "late";
  f.run.ranks = 1;
  f.run.locations = 2;
  f.run.wall_s = 50;
  f.run.allocation_s = 100;
  f.locations = {{"0.0", 0, 0, "n1", 50, 10, ""}, {"0.1", 0, 1, "n1", 50, 15, "queue 1 of Fast"}};
  f.callpaths = {{"main/prepare", "prepare", "a.c", 3},
                 {"main/work", "work", "a.c", 9},
                 {"main/launch/kernel", "kernel", "", 0},
                 {"main/launch", "launch", "", 0}};
  f.identities.waiting_s = 25;
  f.identities.device_idle_s = 21;
  f.identities.device_wait_s = 8;
  f.devices = {{"Fast", "n1", kStream, 1, 20, 0, 3, 10, 10, 0, 0, 40, 21, 5, 14, 5}};
  for (int i = 0; i < 50; ++i) {
    blame::FoundDeviceTime part;
    part.device = FoundDeviceId(0);
    part.begin_s = i;
    part.end_s = i + 1;
    if (i < 10) {
      part.late_s = 1, part.callpath = kPrepare, part.callpath_s = 1;
    } else if (i < 30) {
      part.busy_s = part.kernels_s = 0.5, part.latency_s = 0.3;
      part.late_s = 0.2, part.callpath = kWork, part.callpath_s = 0.2;
    } else if (i < 40) {
      part.launching_s = part.late_s = 0.2, part.latency_s = 0.8;
      part.callpath = kLaunch, part.callpath_s = 0.2, part.launch_bound = true;
    } else if (i < 45) {
      part.unknown_s = 1;
    } else {
      part.late_s = 1, part.callpath = kWork, part.callpath_s = 1;
    }
    f.device_times.push_back(part);
  }
  f.device_blame = {{blame::DeviceBlameKind::idle_device, kPrepare, kHost, 10, 10, 10, 10},
                    {blame::DeviceBlameKind::idle_device, kWork, kHost, 9, 9, 4, 0},
                    {blame::DeviceBlameKind::idle_device, kLaunch, kHost, 2, 2, 2, 2},
                    {blame::DeviceBlameKind::waiting_host, kKernel, kStream, 8, 5, 8, 12}};
  f.device_calls = {{kWork, kHost, 20, 9, 4, 1}};
  return f;
}

std::string page_of(blame::Findings findings) {
  blame::diagnose(findings);
  return text(findings, "culprit.x.1");
}

std::string page() {
  return page_of(late_device());
}

bool has(const std::string& page, std::string_view words) {
  std::string flat;
  std::istringstream stream(page);
  for (std::string word; stream >> word;) flat += word + ' ';
  return flat.find(words) != std::string::npos;
}

TEST(DevicesText, DrawsBusyAndIdleOverTime) {
  const std::string p = page();
  SCOPED_TRACE(p);
  EXPECT_NE(p.find("busy |..........55555555555555555555....................|"), std::string::npos);
  EXPECT_NE(p.find("idle |aaaaaaaaaa~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~?????bbbbb|"), std::string::npos);
  EXPECT_NE(p.find("\n a     10.00 s   47.6 %  main/prepare, on the critical path for 10.00 s\n"),
            std::string::npos);
  EXPECT_NE(p.find("\n b      9.00 s   42.9 %  main/work\n"), std::string::npos);
}

TEST(DevicesText, TellsOfIdleDevicesInTheVerdict) {
  blame::Findings f = late_device();
  f.identities.waiting_s = 0;
  EXPECT_TRUE(
      has(page_of(f),
          "Verdict: The device had nothing to do for 42.0 % of the time, and 47.6 % of that "
          "was while hosts executed prepare (a.c:3)."));
  f.run.wall_s *= 2;
  EXPECT_FALSE(has(page_of(f), "Verdict:"));
}

TEST(DevicesText, SaysOnTheFirstScreenThatDevicesIdle) {
  constexpr std::string_view kIdle = "The device had nothing to do for 42.0 % of the time";
  blame::Findings f = late_device();
  blame::diagnose(f);
  const std::string p = screen(f, "e");
  SCOPED_TRACE(p);
  const size_t first = p.find(kIdle);
  ASSERT_NE(first, p.npos);
  EXPECT_TRUE(has(p, "while hosts executed prepare (a.c:3)."));
  EXPECT_EQ(p.find(kIdle, first + 1), p.npos) << "it says so twice";
}

TEST(DevicesText, SaysWhatIsOnTheCriticalPath) {
  const std::string p = page();
  SCOPED_TRACE(p);
  EXPECT_TRUE(has(p,
                  "main/launch/kernel, 3.00 s of it concurrently with others, on the critical path "
                  "for 12.00 s"));
  // Of the kernel most is on the critical path: 12 of 50 s.
  EXPECT_TRUE(
      has(p,
          "Devices, of the devices' time 42.0 % idle: nothing had been launched 20.0 % while hosts "
          "executed prepare (a.c:3) 24.0 % on the critical path: speed up kernel, or overlap it "
          "with other work"));
  blame::Findings slow_host = late_device();
  slow_host.device_blame[3].critical_s = 1;
  EXPECT_TRUE(has(page_of(slow_host), "20.0 % on the critical path: launch ahead of prepare"));
  for (auto& row : slow_host.device_blame) row.critical_s = 0;
  EXPECT_FALSE(has(page_of(slow_host), "launch ahead"));
}

/// Two threads of one call path: it is on the critical path once. Nothing can be launched
/// ahead of what comes before a device's first operation.
TEST(DevicesText, AdvisesOnlyWhatCanBeDone) {
  blame::Findings f = late_device();
  f.device_blame[3].critical_s = 1;
  f.device_blame.push_back({blame::DeviceBlameKind::idle_device, kPrepare, kStream, 1, 1, 1, 10});
  EXPECT_TRUE(has(page_of(f), "main/prepare, on the critical path for 10.00 s"));
  f.device_blame[0].between_s = 0;  // 1 of 11 is left
  EXPECT_TRUE(has(page_of(f), "4.0 % on the critical path: launch ahead of launch"));
}

/// Kernels that took longer to start than to run; copies are no kernels.
TEST(DevicesText, NamesLaunchBoundKernels) {
  blame::Findings f = late_device();
  using enum blame::DeviceOperationKind;
  f.device_operations = {{kKernel, kStream, kernel, 20, 2, 9, 0, 0, true},
                         {kKernel, kStream, kernel, 30, 8, 1, 0, 0, false},
                         {kKernel, kStream, copy, 40, 1, 3, 0, 0, true}};
  EXPECT_TRUE(has(page_of(f), "Launch-bound: 20 kernels ran for 2.00 s after 9.00 s of launch"))
      << page_of(f);
}

/// Of the 21 s in which nothing had been launched 5 are behind the last operation.
TEST(DevicesText, KnowsWhatLaunchingEarlierCannotSave) {
  const std::string p = page();
  EXPECT_TRUE(has(p, "of this, 5.00 s after its last operation"));
  EXPECT_TRUE(has(p, "timely launches could finish it up to 16.00 s earlier"));
}

/// A run of which the 50th part is not exact in binary: sums of its parts fall short of it.
TEST(DevicesText, DrawsAFullPartAsFull) {
  blame::Findings f = late_device();
  f.run.wall_s = 0.7;
  for (size_t i = 0; i < f.device_times.size(); ++i) {
    blame::FoundDeviceTime& part = f.device_times[i];
    part = {};
    part.device = FoundDeviceId(0);
    part.begin_s = 0.7 * static_cast<double>(i) / 50;
    part.end_s = 0.7 * static_cast<double>(i + 1) / 50;
    part.busy_s = part.kernels_s = 0.014;
  }
  EXPECT_TRUE(has(page_of(f), "busy |" + std::string(50, '#') + '|')) << page_of(f);
}

/// Two call paths of one kernel.
TEST(DevicesText, TellsRowsApart) {
  blame::Findings f = late_device();
  const std::string middle = "/enqueue_turns_of_work/clEnqueueNDRangeKernelOnTheQueue/busy";
  const auto add = [&](const std::string& path) {
    f.callpaths.push_back({path, "busy", "", 0, {}, false, "opencl"});
  };
  add("main/solve/enqueue_busy" + middle);
  add("main/open_device/calibrate" + middle);
  f.device_blame[3].callpath = CallPathId(4);
  f.device_blame.push_back(
      {blame::DeviceBlameKind::waiting_host, CallPathId(5), kStream, 2, 2, 2, 0});
  const std::string p = page_of(f);
  SCOPED_TRACE(p);
  EXPECT_TRUE(has(p, "main/.../enqueue_busy/.../clEnqueueNDRangeKernelOnTheQueue/busy"));
  EXPECT_TRUE(has(p, "main/.../calibrate/.../clEnqueueNDRangeKernelOnTheQueue/busy"));
}

TEST(DevicesText, NamesPhasesThatAreBoundByLaunches) {
  const std::string p = page();
  SCOPED_TRACE(p);
  EXPECT_TRUE(
      has(p, "Fast is launch-bound from 30.00 s to 40.00 s: for 10.00 s of that time it was idle"));
  EXPECT_TRUE(
      has(p, "4 of 20 calls that wait for a device had nothing to wait for, and took 1.00 s"));
  EXPECT_TRUE(has(p, "3 copies to or from pageable memory"));
}

TEST(DevicesText, NamesDevicesOnlyWhereTheyDiffer) {
  blame::Findings f = late_device();
  f.waits = {{"dev.late_launch", kPrepare, kStream, 1, 21, 0, 0}};
  EXPECT_TRUE(has(page_of(f), "Late launch, 1 time: queue 1 "));
  EXPECT_TRUE(has(page_of(f), "busy: Fast on n1, 1 stream"));
  f.devices.push_back(f.devices.front());
  EXPECT_TRUE(has(page_of(f), "busy: Fast of queue 1 on n1"));
  f.devices.back().name = "Slow";
  EXPECT_TRUE(has(page_of(f), "Late launch, 1 time: queue 1 of Fast"));
}

}  // namespace
}  // namespace culprit::report
