// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Databases of rocprofv3 become events: calls of HIP, what they hand over, and for what they wait.
#include <gtest/gtest.h>

#include <algorithm>

#include "database.h"
#include "opened.h"

namespace culprit::trace {
namespace {

constexpr const char* kNames =
    "CREATE TABLE rocpd_string_00ab(id, guid, string); INSERT INTO rocpd_string_00ab VALUES "
    "(1, 'x', 'hipLaunchKernel'), (2, 'x', 'hipEventSynchronize'), (3, 'x', "
    "'hipMemcpyWithStream'), "
    "(4, 'x', 'MEMORY_COPY_DEVICE_TO_HOST'), (5, 'x', 'solve'); "
    "CREATE TABLE rocpd_info_kernel_symbol_00ab(id, display_name); "
    "INSERT INTO rocpd_info_kernel_symbol_00ab VALUES (1, 'step'); "
    "CREATE TABLE rocpd_info_agent_00ab(id, name, product_name); "
    "INSERT INTO rocpd_info_agent_00ab VALUES (2, 'gfx942', 'AMD Instinct MI300A'); "
    "CREATE TABLE rocpd_info_process_00ab(id, pid, command); "
    "INSERT INTO rocpd_info_process_00ab VALUES (1, 4711, './app'); "
    "CREATE TABLE rocpd_info_thread_00ab(id, tid, name); "
    "INSERT INTO rocpd_info_thread_00ab VALUES (1, 4711, 'app')";
constexpr const char* kEvents =
    "CREATE TABLE rocpd_event_00ab(id, stack_id); INSERT INTO rocpd_event_00ab VALUES (1, 10), "
    "(2, 10), (3, 11), (4, 12), (5, 12), (6, 13)";
constexpr const char* kRegions =
    "CREATE TABLE rocpd_region_00ab(id, pid, tid, start, end, name_id, event_id); "
    "INSERT INTO rocpd_region_00ab VALUES (1, 1, 1, 1000, 2000, 1, 1), (2, 1, 1, 3000, 9000, 2, "
    "3), "
    "(3, 1, 1, 9500, 12000, 3, 4), (4, 1, 1, 500, 12500, 5, 6)";
constexpr const char* kKernels =
    "CREATE TABLE rocpd_kernel_dispatch_00ab(id, tid, agent_id, kernel_id, queue_id, stream_id, "
    "start, end, event_id); "
    "INSERT INTO rocpd_kernel_dispatch_00ab VALUES (1, 1, 2, 1, 1, 0, 2500, 8990, 2)";
constexpr const char* kCopies =
    "CREATE TABLE rocpd_memory_copy_00ab(id, tid, start, end, name_id, dst_agent_id, src_agent_id, "
    "size, queue_id, stream_id, event_id); "
    "INSERT INTO rocpd_memory_copy_00ab VALUES (1, 1, 10000, 11900, 4, 0, 2, 64, NULL, 0, 5)";

TEST(Rocpd, CallsKernelsAndWaits) {
  const Folder folder;
  Opened opened = open({make_database(folder, {kNames, kEvents, kRegions, kKernels, kCopies})});
  ASSERT_EQ(opened.error, "");
  EXPECT_EQ(
      opened.lines("master thread"),
      (Lines{"0 enter solve", "500 enter hipLaunchKernel", "500 device_launch 1 0 0",
             "1500 leave hipLaunchKernel", "2500 enter hipEventSynchronize",
             "2500 device_wait 0 4294967295 0 -1", "8500 leave hipEventSynchronize",
             "9000 enter hipMemcpyWithStream", "9000 device_launch 2 1 0",
             "9000 device_wait 0 0 2 -1", "11500 leave hipMemcpyWithStream", "12000 leave solve"}));
  EXPECT_EQ(opened.lines("stream 0 of device 2"),
            (Lines{"2000 enter step", "2000 device_operation 1 0 0 0 0 -1 0", "8490 leave step",
                   "9500 enter copy from device", "9500 device_operation 2 1 2 0 64 -1 0",
                   "11400 leave copy from device"}));
  EXPECT_EQ(opened.source->definitions().devices.at(0).name, "AMD Instinct MI300A");
}

TEST(Rocpd, IsRefusedWhereNothingCouldBeFound) {
  const Folder folder;
  EXPECT_NE(open({make_database(folder, {kNames, kEvents, kRegions})}).error.find("rocprofv3"),
            std::string::npos);
  EXPECT_NE(open({make_database(folder, {kNames, kEvents, kRegions, kKernels,
                                         "CREATE TABLE rocpd_timestamp_00ab(id, value)"})})
                .error.find("version"),
            std::string::npos);
}

}  // namespace
}  // namespace culprit::trace
