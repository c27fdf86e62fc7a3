// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Diagnoses on findings whose answer is plain: what is in the row, and from when on it matters.
#include "blame/judge/diagnose.h"
#include "blame/judge/causes.h"

#include <gtest/gtest.h>

#include "blame/findings/path_meaning.h"

namespace culprit::blame {
namespace {

constexpr CallPathId kSolve(0), kSolveAgain(1), kTest(2), kInit(3);
constexpr LocationId kHost(0), kOther(1), kStream(2);

/// Two threads and a device for 100 s.
Findings run() {
  Findings f;
  f.run.wall_s = 100;
  f.run.allocation_s = 200;
  f.callpaths = {{"main/solve", "solve", "a.c", 3},
                 {"main/again/solve", "solve", "a.c", 3},
                 {"main/MPI_Test", "MPI_Test", "", 0},
                 {"main/MPI_Init", "MPI_Init", "", 0}};
  for (FoundCallPath& path : f.callpaths) set_model_by_name(path);
  f.callpaths[kInit.index()].start_up = true;
  return f;
}

const FoundDiagnosis* row_of(const Findings& f, Diagnosis kind) {
  for (const FoundDiagnosis& row : f.diagnoses) {
    if (row.kind == kind) return &row;
  }
  return nullptr;
}

TEST(Diagnose, NothingWhereNothingIs) {
  Findings f = run();
  diagnose(f);
  EXPECT_TRUE(f.diagnoses.empty());
}

TEST(Diagnose, StartUpMattersInLongRunsOnly) {
  Findings f = run();
  f.start_up.wall_s = 50;
  diagnose(f);
  EXPECT_NE(find_diagnosis(f, Diagnosis::start_up), nullptr);
  f.run.wall_s = 59, f.start_up.wall_s = 58;
  diagnose(f);
  EXPECT_EQ(find_diagnosis(f, Diagnosis::start_up), nullptr);
  EXPECT_EQ(row_of(f, Diagnosis::start_up)->time_s, 58);
}

// Tests took 12 of 200 s, and so long stretches do not matter; the function is one, whatever leads
// to it, so it caused 7.5 s.
TEST(Diagnose, PollingIsCausedByAFunction) {
  Findings f = run();
  f.polling = {{kTest, kHost, 10, 70}, {kTest, kOther, 10, 50}};
  f.polling_causes = {{kTest, kHost, 4.5}, {kSolve, kHost, 3.75}, {kSolveAgain, kOther, 3.75}};
  diagnose(f);
  const FoundDiagnosis* const row = find_diagnosis(f, Diagnosis::polling);
  ASSERT_NE(row, nullptr);
  EXPECT_EQ(row->time_s, 12);
  EXPECT_EQ(row->whole_s, 200);
  EXPECT_EQ(row->callpath, kSolveAgain);
  EXPECT_EQ(row->callpath_s, 7.5);
}

// 12 of 200 s, most of it for those of one call path, on two locations: all that send in one
// function of MPI have nothing to do with each other. 60 of 1000 messages alone would be few.
TEST(Diagnose, MessagesThatAreWaitedForMatter) {
  Findings f = run();
  f.identities.waiting_s = 200;
  f.message_use = {{kSolve, kHost, 300, 20, 0, 2, 1, 3, 0},
                   {kSolve, kOther, 200, 10, 0, 2, 1, 2, 0},
                   {kSolveAgain, kOther, 400, 20, 0, 2, 1, 4, 0},
                   {kTest, kOther, 100, 10, 40, 2, 1, 3, 0.5}};
  diagnose(f);
  const FoundDiagnosis* const row = find_diagnosis(f, Diagnosis::empty_messages);
  ASSERT_NE(row, nullptr);
  EXPECT_EQ(row->count, 60u);
  EXPECT_EQ(row->all_count, 1000u);
  EXPECT_EQ(row->time_s, 12);
  EXPECT_EQ(row->whole_s, 200);
  EXPECT_EQ(row->callpath, kSolve);
  EXPECT_EQ(row->callpath_s, 5);
  EXPECT_EQ(find_diagnosis(f, Diagnosis::repeated_messages), nullptr);
  EXPECT_EQ(row_of(f, Diagnosis::repeated_messages)->count, 40u);
}

// A daemon's CPU time is in no figure of the system's about the command.
TEST(Diagnose, PageFaultsAreAShareOfAllCpuTimeThatIsKnown) {
  Findings f = run();
  f.run.user_s = f.run.system_s = 1;
  f.processes.resize(1);
  f.processes[0].on_core_s = 8;
  FoundKernelTime& kernel = f.kernel_times.emplace_back();
  kernel.callpath = kSolve;
  kernel.location = kHost;
  kernel.fault_s = 4;
  kernel.page_faults = 100;
  diagnose(f);
  ASSERT_NE(row_of(f, Diagnosis::page_faults), nullptr);
  EXPECT_EQ(row_of(f, Diagnosis::page_faults)->time_s, 4);
  EXPECT_EQ(row_of(f, Diagnosis::page_faults)->whole_s, 8);
  f.run.user_s = 9;  // of children that were not recorded
  diagnose(f);
  EXPECT_EQ(row_of(f, Diagnosis::page_faults)->whole_s, 10);
}

// Half of a hundred are told even if nobody waits; half of fewer are not.
TEST(Diagnose, ManyEmptyMessagesMatter) {
  Findings f = run();
  f.message_use = {{kSolve, kHost, 100, 50, 0, 2, 1, 0, 0}};
  diagnose(f);
  EXPECT_NE(find_diagnosis(f, Diagnosis::empty_messages), nullptr);
  f.message_use = {{kSolve, kHost, 99, 98, 0, 2, 1, 0, 0}};
  diagnose(f);
  EXPECT_EQ(find_diagnosis(f, Diagnosis::empty_messages), nullptr);
}

TEST(Diagnose, LittlePollingDoesNotMatter) {
  Findings f = run();
  f.polling = {{kTest, kHost, 10, 99}};  // mostly work between tests
  f.polling_causes = {{kSolve, kHost, 1}, {kTest, kHost, 1.5}, {kInit, kHost, 0.6}};
  diagnose(f);
  EXPECT_EQ(find_diagnosis(f, Diagnosis::polling), nullptr);
  ASSERT_NE(row_of(f, Diagnosis::polling), nullptr);
  EXPECT_FALSE(row_of(f, Diagnosis::polling)->callpath.valid());  // nobody has half of it
}

Findings with_device() {
  Findings f = run();
  f.devices.resize(1);
  f.devices[0].location = kStream;
  return f;
}

// Of 40 s idle, 10 are start-up's: 30 of the other 90 s.
TEST(Diagnose, StartUpIdlesNoDevice) {
  Findings f = with_device();
  f.identities.device_idle_s = 40;
  f.device_blame = {{DeviceBlameKind::idle_device, kInit, kHost, 10, 10, 0, 0},
                    {DeviceBlameKind::idle_device, kSolve, kHost, 20, 20, 20, 15},
                    {DeviceBlameKind::idle_device, kTest, kHost, 10, 10, 10, 2}};
  diagnose(f);
  const FoundDiagnosis* row = find_diagnosis(f, Diagnosis::idle_devices);
  ASSERT_NE(row, nullptr);
  EXPECT_EQ(row->time_s, 30);
  EXPECT_EQ(row->whole_s, 90);
  EXPECT_EQ(row->callpath, kSolve);
  EXPECT_EQ(row->callpath_s, 20);
  row = find_diagnosis(f, Diagnosis::launch_ahead);
  ASSERT_NE(row, nullptr);
  EXPECT_EQ(row->callpath, kSolve);
  EXPECT_EQ(row->time_s, 15);
}

TEST(Diagnose, KernelsThatTakeLongerToStartThanToRun) {
  Findings f = with_device();
  f.device_operations = {{kSolve, kStream, DeviceOperationKind::kernel, 10, 1, 3, 0, 0, true},
                         {kTest, kStream, DeviceOperationKind::kernel, 5, 9, 1, 0, 0, false},
                         {kSolveAgain, kStream, DeviceOperationKind::copy, 5, 1, 9, 0, 2, true}};
  f.devices[0].pageable_copies = 2;
  diagnose(f);
  const FoundDiagnosis* row = find_diagnosis(f, Diagnosis::launch_bound_kernels);
  ASSERT_NE(row, nullptr);
  EXPECT_EQ(row->count, 10u);
  EXPECT_EQ(row->time_s, 3);
  EXPECT_EQ(row->whole_s, 4);
  EXPECT_EQ(row->callpath, kSolve);
  row = find_diagnosis(f, Diagnosis::pageable_copies);
  ASSERT_NE(row, nullptr);
  EXPECT_EQ(row->count, 2u);
  EXPECT_EQ(row->all_count, 5u);
  EXPECT_EQ(row->callpath, kSolveAgain);
}

// Whoever waits for what is missing seems to wait for nothing, and a device to be idle.
TEST(Diagnose, NothingIsSaidOfDevicesWhoseOperationsAreMissing) {
  Findings f = with_device();
  f.device_calls = {{kSolve, kHost, 20, 9, 4, 1}};
  f.losses.add(LossKind::device_starts_before_launch);  // takes nothing away
  diagnose(f);
  EXPECT_FALSE(device_operations_are_missing(f));
  EXPECT_NE(find_diagnosis(f, Diagnosis::redundant_waits), nullptr);
  f.losses.add(LossKind::device_records_dropped);
  diagnose(f);
  EXPECT_TRUE(device_operations_are_missing(f));
  EXPECT_EQ(find_diagnosis(f, Diagnosis::redundant_waits), nullptr);
}

TEST(Causes, NobodyIsBlamedForADeviceThatMayHaveBeenBusy) {
  Findings f = with_device();
  for (const char* pattern : {"dev.late_launch", "dev.no_more_work", "dev.host_wait"}) {
    FoundDelay& row = f.delays.emplace_back();
    row.pattern = pattern;
    row.callpath = kSolve;
    row.location = kHost;
    row.short_s = 5;
  }
  ASSERT_EQ(causes(f).size(), 1u);
  EXPECT_EQ(causes(f)[0].cost_s, 15);
  f.losses.add(LossKind::device_records_dropped);
  ASSERT_EQ(causes(f).size(), 1u);
  EXPECT_EQ(causes(f)[0].cost_s, 5);
}

// Two phases of a device, of 4 and 2 s: what touches is one.
TEST(Diagnose, PhasesOfLaunching) {
  Findings f = with_device();
  for (const double begin : {0.0, 2.0, 6.0}) {
    FoundDeviceTime part;
    part.device = FoundDeviceId(0);
    part.begin_s = begin, part.end_s = begin + 2;
    part.launching_s = 1, part.latency_s = 0.5, part.launch_bound = true;
    f.device_times.push_back(part);
  }
  diagnose(f);
  const FoundDiagnosis* const row = find_diagnosis(f, Diagnosis::launch_bound_phases);
  ASSERT_NE(row, nullptr);
  EXPECT_EQ(row->count, 2u);
  EXPECT_EQ(row->time_s, 4.5);
  EXPECT_EQ(row->whole_s, 6);
  EXPECT_EQ(row->location, kStream);
}

TEST(Diagnose, WaitsForNothingAreCounted) {
  Findings f = with_device();
  f.device_calls = {{kSolve, kHost, 20, 9, 4, 1}, {kTest, kHost, 10, 9, 9, 3}};
  diagnose(f);
  const FoundDiagnosis* const row = find_diagnosis(f, Diagnosis::redundant_waits);
  ASSERT_NE(row, nullptr);
  EXPECT_EQ(row->count, 13u);
  EXPECT_EQ(row->all_count, 30u);
  EXPECT_EQ(row->time_s, 4);
  EXPECT_EQ(row->callpath, kTest);
}

}  // namespace
}  // namespace culprit::blame
