// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "assemble/look/fault_net.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <cstring>
#include <stdexcept>

namespace culprit::assemble::look {
namespace {

void touch_nothing() {
  volatile int* volatile nowhere = nullptr;
  *nowhere = 1;
}

/// The fault is in the C library.
void compare_with_nothing() {
  const char* volatile nowhere = nullptr;
  volatile int order = std::strcmp(nowhere, "somewhere");
  static_cast<void>(order);
}

TEST(FaultNet, AFaultEndsTheWorkAndNothingElse) {
  bool went_on = false;
  EXPECT_FALSE(survives([&] {
    touch_nothing();
    went_on = true;
  }));
  EXPECT_FALSE(went_on);
  EXPECT_TRUE(survives([&] { went_on = true; }));
  EXPECT_TRUE(went_on);
}

TEST(FaultNet, ExceptionsAreNoFaults) {
  EXPECT_THROW(survives([] { throw std::runtime_error("no memory"); }), std::runtime_error);
  EXPECT_TRUE(survives([] {}));
}

TEST(FaultNetDeathTest, FaultsElsewhereAreWhatTheyWere) {
  EXPECT_TRUE(survives([] {}));
  EXPECT_EXIT(touch_nothing(), testing::KilledBySignal(SIGSEGV), "");
  EXPECT_EXIT(survives(compare_with_nothing), testing::KilledBySignal(SIGSEGV), "");
}

}  // namespace
}  // namespace culprit::assemble::look
