// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Threads launch and get buffers of records delivered while others make and end contexts and the
// probe's own thread flushes: nobody waits for anybody, and no launch is lost.

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "tests/fakes/fake_cupti.h"
#include "tests/fakes/fake_recorder.h"

extern "C" int InitializeInjection(void);

namespace culprit::tests {
namespace {

constexpr uint32_t kThreads = 4;
constexpr uint32_t kEach = 10000;

void keep_kernel(uint32_t thread, uint32_t number, uint64_t begin) {
  CUpti_ActivityKernel10 record{};
  record.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
  record.contextId = 1;
  record.streamId = 7 + thread;
  record.correlationId = number;
  record.start = begin;
  record.end = begin + 500;
  record.name = number % 2 == 0 ? "saxpy" : "daxpy";
  fake_cupti_record(&record, sizeof record);
}

/// How many launches this thread's log holds afterwards.
size_t launch(uint32_t thread) {
  const uint64_t now = fake_cupti_now();
  for (uint32_t i = 0; i < kEach; ++i) {
    const uint32_t number = 100 + thread * kEach + i;
    fake_cupti_enter("cudaLaunchKernel_v7000", number);
    fake_cupti_enter("cuLaunchKernel", number);
    fake_cupti_leave("cuLaunchKernel", number);
    fake_cupti_leave("cudaLaunchKernel_v7000", number);
    keep_kernel(thread, number, now + i);
    if (i % 50 == 0) fake_cupti_deliver(i % 100 == 0);
  }
  return fake_count(trace::RawKind::device_launch);
}

TEST(Storm, LaunchesWhileRecordsAreFetched) {
  fake_recorder_reset();
  InitializeInjection();
  fake_cupti_context(0);
  std::atomic<bool> over{false};
  std::thread contexts([&] {
    while (!over) {
      fake_cupti_context(1);
      fake_cupti_context_ends(1);
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
  });
  std::vector<size_t> found(kThreads);
  std::vector<std::thread> threads;
  for (uint32_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&found, t] { found[t] = launch(t); });
  }
  for (std::thread& thread : threads) thread.join();
  over = true;
  contexts.join();
  for (const size_t count : found) EXPECT_EQ(count, kEach);
}

}  // namespace
}  // namespace culprit::tests
