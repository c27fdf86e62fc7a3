// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Stands in for prctl, and is called for seccomp() by system_call.cpp, since the C library has no
// function for it. Threads are confined one by one, but the recording is shared by all, so it stops
// for all. Filters that are in force when the program starts are unknown, and so are those that it
// sets by the bare system call.
#include "collector/sampling/signals/confinement.h"

#include <linux/seccomp.h>
#include <stdarg.h>
#include <sys/prctl.h>

#include "collector/process/lifecycle.h"
#include "collector/sampling/blocking_call.h"
#include "collector/sampling/sampler.h"
#include "collector/sampling/signals/sample_signal.h"
#include "collector/sampling/signals/signal_turn.h"
#include "collector/sampling/signals/system_call.h"
#include "collector/sampling/started.h"
#include "collector/sampling/watch/watcher.h"

namespace culprit::collector::sampling {

namespace {

constinit Next<int(int, ...)> g_prctl("prctl");

/// From now on the collector makes no system call of its own.
void stop() {
  if (!has_started() || !is_same_process()) return;
  const KeepErrno keep;
  {
    const SignalTurn turn;
    end_sampling(Over::confined);
  }
  lifecycle::stop_at_confinement();
  stop_watching();
}

}  // namespace

void find_confining_calls() {
  const KeepErrno keep;
  g_prctl.find();
}

void before_seccomp(unsigned long operation, const void* filter) {
  if (operation == SECCOMP_SET_MODE_STRICT) return stop();
  if (operation != SECCOMP_SET_MODE_FILTER || filter == nullptr) return;
  watcher::end();
  if (!leaves_us_alone(*static_cast<const sock_fprog*>(filter))) stop();
}

void before_prctl(unsigned long option, unsigned long mode, const void* filter) {
  if (option != PR_SET_SECCOMP) return;
  before_seccomp(mode == SECCOMP_MODE_STRICT ? SECCOMP_SET_MODE_STRICT : SECCOMP_SET_MODE_FILTER,
                 filter);
}

}  // namespace culprit::collector::sampling

extern "C" CULPRIT_EXPORT int prctl(int option, ...) noexcept {
  using namespace culprit::collector::sampling;
  // All five words are passed on, as the library does, whatever the option.
  va_list list;
  va_start(list, option);
  unsigned long words[4];
  for (unsigned long& word : words) word = va_arg(list, unsigned long);
  va_end(list);
  auto* const next = g_prctl.get();
  if (next == nullptr) return errno = ENOSYS, -1;
  before_prctl(static_cast<unsigned long>(option), words[0], reinterpret_cast<void*>(words[1]));
  return next(option, words[0], words[1], words[2], words[3]);
}
