// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "assemble/look/fault_net.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <stdexcept>

namespace culprit::assemble::look {
namespace {

void touch_nothing() {
  volatile int* volatile nowhere = nullptr;
  *nowhere = 1;
}

/// The fault is in the C library, in a function without locks.
void compare_with_nothing() {
  const char* volatile nowhere = nullptr;
  volatile int order = std::strcmp(nowhere, "somewhere");
  static_cast<void>(order);
}

/// The fault is in the C library, which could have taken a lock.
void close_nothing() {
  FILE* volatile nowhere = reinterpret_cast<FILE*>(16);
  static_cast<void>(std::fclose(nowhere));
}

int fill_stack(int depth) {
  volatile char room[4096];
  room[0] = static_cast<char>(depth);
  return fill_stack(depth + 1) + room[0];
}

/// As who starts programs has it: all signals are blocked.
struct AllBlocked {
  AllBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
  }
  ~AllBlocked() { pthread_sigmask(SIG_SETMASK, &before, nullptr); }
  sigset_t before;
};

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

TEST(FaultNet, AFaultInAFunctionOnStringsToo) {
  EXPECT_FALSE(survives(compare_with_nothing));
  EXPECT_TRUE(survives([] {}));
}

TEST(FaultNet, AFullStack) {
  int depth = 0;
  EXPECT_FALSE(survives([&] { depth = fill_stack(0); }));
  EXPECT_EQ(depth, 0);
}

TEST(FaultNet, AFaultWhoseSignalIsBlocked) {
  const AllBlocked blocked;
  EXPECT_FALSE(survives(touch_nothing));
  EXPECT_FALSE(survives(compare_with_nothing));
  sigset_t now;
  pthread_sigmask(SIG_BLOCK, nullptr, &now);
  EXPECT_EQ(sigismember(&now, SIGSEGV), 1);
}

TEST(FaultNet, ASignalThatSomebodySendsIsNoFault) {
  const AllBlocked blocked;
  bool went_on = false;
  EXPECT_TRUE(survives([&] {
    kill(getpid(), SIGSEGV);
    went_on = true;
  }));
  EXPECT_TRUE(went_on);
  sigset_t sent;
  sigemptyset(&sent);
  sigaddset(&sent, SIGSEGV);
  siginfo_t info = {};
  const timespec at_once = {};
  EXPECT_EQ(sigtimedwait(&sent, &info, &at_once), SIGSEGV);
  EXPECT_EQ(info.si_pid, getpid());
}

TEST(FaultNet, ExceptionsAreNoFaults) {
  EXPECT_THROW(survives([] { throw std::runtime_error("no memory"); }), std::runtime_error);
  EXPECT_TRUE(survives([] {}));
}

TEST(FaultNetDeathTest, FaultsElsewhereAreWhatTheyWere) {
  EXPECT_TRUE(survives([] {}));
  EXPECT_EXIT(touch_nothing(), testing::KilledBySignal(SIGSEGV), "");
  EXPECT_EXIT(survives(close_nothing), testing::KilledBySignal(SIGSEGV), "");
}

}  // namespace
}  // namespace culprit::assemble::look
