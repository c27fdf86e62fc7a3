// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A lock for changes that concern all threads: which signal samples use, the program's action for
// it, the timers. The program's signal handlers need it, too, so its holder blocks all signals. A
// thread that cannot get it soon goes on without: in the child of a thread that made one by the
// bare system call, its holder may not exist.
#pragma once

#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>

#include "collector/process/system_file.h"

namespace culprit::collector::sampling {

class SignalTurn {
 public:
  SignalTurn() {
    // The bare system call, since the library's function leads to our stand-in.
    const uint64_t all = ~uint64_t{0};
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, &mask_, sizeof mask_);
    for (int tries = 0; tries < kPatience && !has_; ++tries) {
      has_ = !g_taken.test_and_set(std::memory_order_acquire);
      if (!has_) sched_yield();
    }
  }
  ~SignalTurn() {
    if (has_) g_taken.clear(std::memory_order_release);
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &mask_, nullptr, sizeof mask_);
  }
  SignalTurn(const SignalTurn&) = delete;
  SignalTurn& operator=(const SignalTurn&) = delete;

  /// Called in a forked child, which may have been made while another thread of its parent held the
  /// lock.
  static void reset() { g_taken.clear(std::memory_order_release); }

 private:
  static constexpr int kPatience = 20'000;
  static inline std::atomic_flag g_taken = ATOMIC_FLAG_INIT;

  KeepErrno keep_;
  uint64_t mask_ = 0;
  bool has_ = false;
};

}  // namespace culprit::collector::sampling
