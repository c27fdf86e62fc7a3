// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "assemble/look/fault_net.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <stdexcept>

namespace culprit::assemble::look {
namespace {

void touch_nothing() {
  volatile int* volatile nowhere = nullptr;
  *nowhere = 1;
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
  EXPECT_FALSE(survives([] { raise(SIGFPE); }));
}

TEST(FaultNet, ExceptionsAreNoFaults) {
  EXPECT_THROW(survives([] { throw std::runtime_error("no memory"); }), std::runtime_error);
  EXPECT_TRUE(survives([] {}));
}

TEST(FaultNetDeathTest, FaultsElsewhereAreWhatTheyWere) {
  EXPECT_TRUE(survives([] {}));
  EXPECT_EXIT(touch_nothing(), testing::KilledBySignal(SIGSEGV), "");
}

}  // namespace
}  // namespace culprit::assemble::look
