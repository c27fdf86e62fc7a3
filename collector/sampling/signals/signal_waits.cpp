// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Stands in for the calls by which a program waits for signals. If it waits for all that it has
// blocked, it would receive our timers' as well; those are dropped here, and it waits on.
// Assumes that signals with our marker come from us only.
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "collector/process/next.h"
#include "collector/sampling/blocking_call.h"
#include "collector/sampling/signals/sample_timers.h"
#include "collector/sampling/signals/signal_objects.h"

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

constinit Next<int()> g_pause("pause");
constinit Next<int(const sigset_t*)> g_sigsuspend("sigsuspend");

/// Counts the thread among those that wait for a signal.
class Waiting {
 public:
  Waiting() { g_signal_waiters.fetch_add(1, std::memory_order_relaxed); }
  ~Waiting() { g_signal_waiters.fetch_sub(1, std::memory_order_relaxed); }
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;
};

/// `number`: of the signal that came.
Slept for_signal(int number) {
  return number < 0 ? blocked() : waited_for(signal_object(getpid(), number));
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
  const Waiting counted;
  Watch watch;
  const int signal = wait_for(set, info, timeout);
  if (watch.was_long() && length_of(timeout) != 0) [[unlikely]] {
    watch.say("sigtimedwait", came_in_vain(signal) ? in_vain() : for_signal(signal));
  }
  return signal;
}

CULPRIT_EXPORT int sigwaitinfo(const sigset_t* set, siginfo_t* info) {
  const Waiting counted;
  Watch watch;
  const int signal = wait_for(set, info, nullptr);
  if (watch.was_long()) [[unlikely]]
    watch.say("sigwaitinfo", for_signal(signal));
  return signal;
}

CULPRIT_EXPORT int sigwait(const sigset_t* set, int* signal) {
  const Waiting counted;
  Watch watch;
  int found = 0;
  do {
    found = wait_for(set, nullptr, nullptr);
  } while (found < 0 && errno == EINTR);
  if (watch.was_long()) [[unlikely]]
    watch.say("sigwait", for_signal(found));
  if (found < 0) return errno;
  *signal = found;
  return 0;
}

CULPRIT_EXPORT int pause() {
  auto* const next = g_pause.get();
  if (next == nullptr) return errno = ENOSYS, -1;
  const Waiting counted;
  Watch watch;
  const int result = next();
  if (watch.was_long()) [[unlikely]]
    watch.say("pause", for_signal(kAnySignal));
  return result;
}

CULPRIT_EXPORT int sigsuspend(const sigset_t* mask) {
  auto* const next = g_sigsuspend.get();
  if (next == nullptr) return errno = ENOSYS, -1;
  const Waiting counted;
  Watch watch;
  const int result = next(mask);
  if (watch.was_long()) [[unlikely]]
    watch.say("sigsuspend", for_signal(kAnySignal));
  return result;
}

}  // extern "C"
