// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Exports of Nsight Systems become events, in all versions, and also those that somebody made to
// mislead the reader.
#include <gtest/gtest.h>

#include <algorithm>

#include "database.h"
#include "opened.h"

namespace culprit::trace {
namespace {

// The process and its main thread are 4711, in Nsight's numbering.
constexpr const char* kStrings =
    "CREATE TABLE StringIds(id, value); INSERT INTO StringIds VALUES (1, "
    "'cudaLaunchKernel_v7000'), "
    "(2, 'cudaStreamSynchronize_v3020'), (3, 'gemm'), (4, 'poll'), (5, 'cudaDeviceSynchronize')";
constexpr const char* kCalls =
    "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start, end, globalTid, correlationId, nameId); "
    "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES "
    "(32000, 51000, 4711<<24|4711, 6, 2), (60000, 61000, 4711<<24|4711, 7, 5), "
    "(12000, 14000, 4711<<24|4711, 5, 1)";
constexpr const char* kKernels =
    "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start, end, deviceId, contextId, streamId, "
    "correlationId, globalPid, shortName); "
    "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (20000, 50000, 0, 1, 7, 5, 4711<<24, 3)";
/// A wait for a stream, and a wait for a device that CUPTI takes for one for an event.
constexpr const char* kSyncs =
    "CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION(start, end, deviceId, contextId, streamId, "
    "correlationId, globalPid, syncType, eventId); "
    "INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION VALUES "
    "(0, 0, 0, 1, 7, 6, 4711<<24, 3, NULL), (0, 0, 0, 1, 4294967295, 7, 4711<<24, 1, 0)";
constexpr const char* kSystem =
    "CREATE TABLE OSRT_API(start, end, globalTid, nameId); "
    "INSERT INTO OSRT_API VALUES (52000, 55000, 4711<<24|4711, 4), (1, 99999, 4711<<24|4712, 4), "
    "(1, 99999, 99<<24|99, 4)";

TEST(Nsight, CallsKernelsAndWaits) {
  const Folder folder;
  Opened opened = open({make_database(folder, {kStrings, kCalls, kKernels, kSyncs, kSystem})});
  ASSERT_EQ(opened.error, "");
  EXPECT_EQ(
      opened.lines("master thread"),
      (Lines{"0 enter cudaLaunchKernel", "0 device_launch 1 0 0", "2000 leave cudaLaunchKernel",
             "2000 enter (between cudaLaunchKernel and cudaStreamSynchronize)",
             "20000 leave (between cudaLaunchKernel and cudaStreamSynchronize)",
             "20000 enter cudaStreamSynchronize", "20000 device_wait 1 0 0 -1",
             "39000 leave cudaStreamSynchronize", "40000 enter poll", "43000 leave poll",
             "48000 enter cudaDeviceSynchronize", "48000 device_wait 2 4294967295 0 -1",
             "49000 leave cudaDeviceSynchronize"}));
  EXPECT_EQ(opened.lines("stream 7 of device 0"),
            (Lines{"8000 enter gemm", "8000 device_operation 1 0 0 0 0 -1 0", "38000 leave gemm"}));
  EXPECT_EQ(opened.source->definitions().locations.size(), 2u);  // the tool's thread is none
}

TEST(Nsight, EventsAreKnownByTheirRecording) {
  const Folder folder;
  Opened opened = open({make_database(
      folder,
      {kStrings, kKernels,
       "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start, end, globalTid, correlationId, nameId); "
       "INSERT INTO StringIds VALUES (9, 'cudaEventSynchronize'), (10, 'cudaEventRecord'); "
       "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (12000, 13000, 4711<<24|4711, 5, 1), "
       "(14000, 15000, 4711<<24|4711, 6, 10), (16000, 51000, 4711<<24|4711, 7, 9)",
       "CREATE TABLE CUPTI_ACTIVITY_KIND_CUDA_EVENT(deviceId, contextId, streamId, correlationId, "
       "globalPid, eventId, eventSyncId); "
       "INSERT INTO CUPTI_ACTIVITY_KIND_CUDA_EVENT VALUES (0, 1, 7, 6, 4711<<24, 3, 77)",
       "CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION(deviceId, contextId, streamId, "
       "correlationId, globalPid, syncType, eventId, eventSyncId); "
       "INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION VALUES (0, 1, 4294967295, 7, 4711<<24, 1, "
       "3, 77)"})});
  ASSERT_EQ(opened.error, "");
  const Lines lines = opened.lines("master thread");
  EXPECT_EQ(std::count(lines.begin(), lines.end(), "4000 device_wait 0 0 1 -1"), 1);
}

TEST(Nsight, WhatIsNoExportIsRefused) {
  const Folder folder;
  const auto refusal = [&](std::initializer_list<const char*> statements) {
    return open({make_database(folder, statements)}).error;
  };
  EXPECT_NE(refusal({"CREATE TABLE findings(a)"}), "");
  EXPECT_NE(refusal({kStrings, kCalls}).find("nsys profile"), std::string::npos);
  EXPECT_NE(refusal({kStrings, kKernels}).find("calls"), std::string::npos);
  // A view may never end.
  EXPECT_NE(
      refusal({kStrings, kKernels,
               "CREATE VIEW CUPTI_ACTIVITY_KIND_RUNTIME AS WITH RECURSIVE a(start) AS (SELECT 1 "
               "UNION ALL SELECT start + 1 FROM a) SELECT * FROM a"}),
      "");
  EXPECT_NE(open(std::string("SQLite format 3\0", 16) + std::string(5000, 'x')).error, "");
}

TEST(Nsight, RowsMayHoldAnything) {
  const Folder folder;
  Opened opened = open({make_database(
      folder,
      {kStrings, kCalls, kKernels,
       "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (NULL, 'x', -1, NULL, x'00', -5, NULL, "
       "99999), (9223372036854775807, -9223372036854775807, 0, 0, 0, 0, 4711<<24, 3)",
       "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (70000, 60000, NULL, NULL, NULL)"})});
  ASSERT_EQ(opened.error, "");
  EXPECT_EQ(opened.lines("stream 7 of device 0").size(), 3u);
}

}  // namespace
}  // namespace culprit::trace
