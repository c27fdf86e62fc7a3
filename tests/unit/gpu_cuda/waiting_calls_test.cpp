// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// CUPTI has a record of each call that asks whether an event has come, but only those that wait
// are noted.

#include "gpu/cuda/waiting_calls.h"

#include <gtest/gtest.h>

namespace culprit::gpu::cuda {
namespace {

TEST(WaitingCalls, OnlyThoseThatAreNotedWait) {
  note_waiting_call(17);
  note_waiting_call(20);
  EXPECT_TRUE(is_waiting_call(17));
  EXPECT_FALSE(is_waiting_call(18));
  EXPECT_TRUE(is_waiting_call(20));
  EXPECT_FALSE(is_waiting_call(0));  // the number of no call
}

TEST(WaitingCalls, AMillionCallsLaterOneIsForgotten) {
  constexpr uint32_t kMillion = 1 << 20;
  note_waiting_call(30);
  note_waiting_call(30 + kMillion);
  EXPECT_FALSE(is_waiting_call(30));
  EXPECT_TRUE(is_waiting_call(30 + kMillion));
}

}  // namespace
}  // namespace culprit::gpu::cuda
