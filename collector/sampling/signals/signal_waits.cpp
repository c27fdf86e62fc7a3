// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Stands in for the calls by which a program waits for signals that it has blocked. If it waits for
// all of them, it would receive our timers' as well; those are dropped here, and it waits on.
// Assumes that signals with our marker come from us only.
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <time.h>

#include "collector/sampling/blocking_call.h"
#include "collector/sampling/signals/sample_timers.h"

namespace culprit::collector::sampling {

namespace {

using TimedWait = int (*)(const sigset_t*, siginfo_t*, const timespec*);

TimedWait next_wait() {
  static TimedWait next = nullptr;
  TimedWait known = __atomic_load_n(&next, __ATOMIC_RELAXED);
  if (known == nullptr) {
    known = reinterpret_cast<TimedWait>(dlsym(RTLD_NEXT, "sigtimedwait"));
    __atomic_store_n(&next, known, __ATOMIC_RELAXED);
  }
  return known;
}

constexpr long kSecond = 1'000'000'000;

timespec sum(timespec a, timespec b) {
  if (__builtin_add_overflow(a.tv_sec, b.tv_sec, &a.tv_sec)) return {LONG_MAX - 1, 0};
  a.tv_nsec += b.tv_nsec;
  if (a.tv_nsec >= kSecond) {
    a.tv_sec += 1;
    a.tv_nsec -= kSecond;
  }
  return a;
}

/// Zero once `end` has passed.
timespec time_until(const timespec& end) {
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  timespec left = {end.tv_sec - now.tv_sec, end.tv_nsec - now.tv_nsec};
  if (left.tv_nsec < 0) {
    left.tv_sec -= 1;
    left.tv_nsec += kSecond;
  }
  return left.tv_sec < 0 ? timespec{} : left;
}

/// As sigtimedwait; without a timeout, as sigwaitinfo.
int wait_for(const sigset_t* set, siginfo_t* info, const timespec* timeout) {
  const TimedWait wait = next_wait();
  if (wait == nullptr) {
    errno = ENOSYS;
    return -1;
  }
  siginfo_t found = {};
  timespec end = {};
  if (timeout != nullptr) {
    clock_gettime(CLOCK_MONOTONIC, &end);
    end = sum(end, *timeout);
  }
  int signal = wait(set, &found, timeout);
  while (signal > 0 && timers::is_ours(found)) {
    timers::skip();
    const timespec left = timeout != nullptr ? time_until(end) : timespec{};
    signal = wait(set, &found, timeout != nullptr ? &left : nullptr);
  }
  if (signal > 0 && info != nullptr) *info = found;
  return signal;
}

}  // namespace

}  // namespace culprit::collector::sampling

extern "C" {

using namespace culprit::collector::sampling;

CULPRIT_EXPORT int sigtimedwait(const sigset_t* set, siginfo_t* info, const timespec* timeout) {
  Watch watch;
  const int signal = wait_for(set, info, timeout);
  if (watch.was_long()) [[unlikely]] {
    const bool looks = length_of(timeout) == 0;
    watch.say("sigtimedwait", looks || !came_in_vain(signal) ? unless_at_once(looks) : nap());
  }
  return signal;
}

CULPRIT_EXPORT int sigwaitinfo(const sigset_t* set, siginfo_t* info) {
  Watch watch;
  const int signal = wait_for(set, info, nullptr);
  if (watch.was_long()) [[unlikely]]
    watch.say("sigwaitinfo", blocked());
  return signal;
}

CULPRIT_EXPORT int sigwait(const sigset_t* set, int* signal) {
  Watch watch;
  int found = 0;
  do {
    found = wait_for(set, nullptr, nullptr);
  } while (found < 0 && errno == EINTR);
  if (watch.was_long()) [[unlikely]]
    watch.say("sigwait", blocked());
  if (found < 0) return errno;
  *signal = found;
  return 0;
}

}  // extern "C"
