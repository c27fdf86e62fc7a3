// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Calls that wait are known by all names that the system's library has for them.
#include "assemble/stuck/waiting_calls.h"

#include <gtest/gtest.h>

namespace culprit::assemble::stuck {
namespace {

TEST(WaitingCall, IsKnownByTheNamesOfSymbolsAndOfDebugInformation) {
  for (const char* name :
       {"pthread_mutex_lock", "pthread_mutex_lock@@GLIBC_2.2.5", "__pthread_mutex_lock",
        "___pthread_mutex_lock", "__GI___pthread_mutex_lock", "__GI_pthread_mutex_lock"}) {
    EXPECT_EQ(thread_wait_kind(name), ThreadWait::Kind::mutex) << name;
  }
  EXPECT_EQ(thread_wait_kind("___pthread_cond_wait"), ThreadWait::Kind::condition);
}

TEST(WaitingCall, OtherNamesAreNone) {
  for (const char* name : {"", "_", "__", "___", "__GI_", "pthread_mutex_trylock", "main",
                           "_pthread_mutex_lock", "my_pthread_mutex_lock"}) {
    EXPECT_EQ(waiting_call(name), nullptr) << name;
  }
}

}  // namespace
}  // namespace culprit::assemble::stuck
