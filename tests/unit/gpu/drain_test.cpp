// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The thread that asks backends for what has ended, and nobody waits for it for ever. There is one
// in a process, so all tests use the same.

#include "gpu/drain.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "gpu/face.h"
#include "tests/fakes/fake_recorder.h"

namespace culprit::gpu {
namespace {

using namespace std::chrono_literals;
using tests::fake_records;
using trace::RawKind;

std::atomic<int> collections{0};
std::atomic<int> last_ones{0};
std::atomic<bool> release{false};

bool collect() {
  ++collections;
  return true;
}
bool count_last() {
  ++last_ones;
  return false;
}
bool hang() {
  while (!release) std::this_thread::sleep_for(1ms);
  return false;
}

class DrainTest : public testing::Test {
 protected:
  void SetUp() override {
    tests::fake_recorder_reset();
    ASSERT_TRUE(begin_device_log(trace::DeviceApi::opencl));
    start_drain(collect);
  }
};

TEST_F(DrainTest, CollectsByItself) {
  const int before = collections;
  while (collections < before + 3) std::this_thread::sleep_for(1ms);
}

TEST_F(DrainTest, CollectsTheRestWhenAsked) {
  const int before = last_ones;
  EXPECT_TRUE(drain_now(count_last, 1min, false));
  EXPECT_EQ(last_ones, before + 1);
}

TEST_F(DrainTest, SeveralMayAsk) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([] { EXPECT_TRUE(drain_now(count_last, 1min, false)); });
  }
  for (std::thread& thread : threads) thread.join();
}

// The program's end does not hang where a runtime does.
TEST_F(DrainTest, DoesNotWaitForAHungRuntime) {
  release = false;
  EXPECT_FALSE(drain_now(hang, 20ms, false));
  ASSERT_EQ(fake_records().size(), 1u);
  EXPECT_EQ(fake_records()[0].kind, RawKind::device_lost);
  EXPECT_EQ(fake_records()[0].flags, static_cast<uint16_t>(trace::RawDeviceLoss::hung_flush));
  release = true;
  EXPECT_TRUE(drain_now(count_last, 1min, false));
}

TEST_F(DrainTest, InAForkedChildThereIsNothingToWaitFor) {
  tests::fake_recorder_reset(false);
  const int before = last_ones;
  EXPECT_TRUE(drain_now(count_last, 1min, false));
  EXPECT_EQ(last_ones, before);
}

// Last: the thread is gone afterwards.
TEST_F(DrainTest, ZStopsWhenToldTo) {
  EXPECT_TRUE(drain_now(count_last, 1min, true));
  std::this_thread::sleep_for(1ms);
  while (!drain_now(count_last, 1min, true)) {
  }
}

}  // namespace
}  // namespace culprit::gpu
