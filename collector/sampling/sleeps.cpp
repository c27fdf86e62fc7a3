// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Short sleeps are left to the samples around them: a record costs as much as they do. What
// libraries of MPI and OpenMP do while they wait is not told either. These functions may be called
// from the program's signal handlers, so the system's own are looked up at load, and only what is
// called before that is looked up when it is called.
#include "collector/sampling/sleeps.h"

#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <time.h>
#include <unistd.h>

#include <atomic>

#include "collector/lifecycle.h"
#include "collector/recorder.h"
#include "collector/sampling/sampler.h"
#include "collector/selection.h"
#include "collector/system_file.h"

namespace culprit::collector::sampling {

namespace {

/// Of the clock, of whichever kind: between 15 and 50 us.
constexpr uint64_t kShortestTicks = 50'000;

/// A function of the system's library, behind ours.
template <class Function>
class Next {
 public:
  explicit constexpr Next(const char* name) : name_(name) {}
  void find() {
    function_.store(reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name_)),
                    std::memory_order_relaxed);
  }
  Function* get() {
    if (function_.load(std::memory_order_relaxed) == nullptr) find();
    return function_.load(std::memory_order_relaxed);
  }

 private:
  const char* name_;
  std::atomic<Function*> function_{nullptr};
};

constinit Next<int(useconds_t)> g_usleep("usleep");
constinit Next<unsigned(unsigned)> g_sleep("sleep");
constinit Next<int(const timespec*, timespec*)> g_nanosleep("nanosleep");
constinit Next<int(clockid_t, int, const timespec*, timespec*)> g_clock_nanosleep(
    "clock_nanosleep");
constinit Next<int(pollfd*, nfds_t, int)> g_poll("poll");
constinit Next<int(pollfd*, nfds_t, const timespec*, const sigset_t*)> g_ppoll("ppoll");
constinit Next<int(int, fd_set*, fd_set*, fd_set*, timeval*)> g_select("select");
constinit Next<int(int, fd_set*, fd_set*, fd_set*, const timespec*, const sigset_t*)> g_pselect(
    "pselect");
constinit Next<int(int, epoll_event*, int, int)> g_epoll_wait("epoll_wait");
constinit Next<int(pthread_t, void**)> g_pthread_join("pthread_join");

/// Says of what lies between its begin and its end that the thread slept there.
class Watch {
 public:
  explicit Watch(const char* name = nullptr) : name_(name) {
    if (has_started() && lifecycle::is_watching()) begin_ = now();
  }
  /// Out of line, in the call that the program made: from there the stack is taken.
  [[gnu::always_inline]] void end() {
    if (begin_ == 0) return;
    const KeepErrno keep;
    const uint64_t end = now();
    if (end - begin_ < kShortestTicks || selection::is_off() || !is_same_process()) return;
    ThreadLog* const log = lifecycle::watched_log();
    if (log == nullptr || log->waiting > 0) return;
    const PathId caller = log->current_path();
    const StringId name = name_ != nullptr ? log->name(name_) : StringId::none;
    log->put(RawKind::blocked, begin_, static_cast<uint16_t>(name), static_cast<uint32_t>(caller),
             end);
  }

 private:
  const char* name_;
  uint64_t begin_ = 0;
};

/// Where the system has no such function, which cannot be.
int missing() {
  errno = ENOSYS;
  return -1;
}

}  // namespace

void find_sleeping_calls() {
  const KeepErrno keep;
  g_usleep.find(), g_sleep.find(), g_nanosleep.find(), g_clock_nanosleep.find();
  g_poll.find(), g_ppoll.find(), g_select.find(), g_pselect.find();
  g_epoll_wait.find(), g_pthread_join.find();
}

}  // namespace culprit::collector::sampling

extern "C" {

using namespace culprit::collector::sampling;

CULPRIT_EXPORT int usleep(useconds_t microseconds) {
  auto* const next = g_usleep.get();
  if (next == nullptr) return missing();
  Watch watch;
  const int result = next(microseconds);
  watch.end();
  return result;
}

CULPRIT_EXPORT unsigned sleep(unsigned seconds) {
  auto* const next = g_sleep.get();
  if (next == nullptr) return seconds;
  Watch watch;
  const unsigned result = next(seconds);
  watch.end();
  return result;
}

CULPRIT_EXPORT int nanosleep(const timespec* time, timespec* left) {
  auto* const next = g_nanosleep.get();
  if (next == nullptr) return missing();
  Watch watch;
  const int result = next(time, left);
  watch.end();
  return result;
}

CULPRIT_EXPORT int clock_nanosleep(clockid_t clock, int flags, const timespec* time,
                                   timespec* left) {
  auto* const next = g_clock_nanosleep.get();
  if (next == nullptr) return ENOSYS;
  Watch watch;
  const int result = next(clock, flags, time, left);
  watch.end();
  return result;
}

CULPRIT_EXPORT int poll(pollfd* files, nfds_t count, int timeout) {
  auto* const next = g_poll.get();
  if (next == nullptr) return missing();
  if (timeout == 0) return next(files, count, timeout);
  Watch watch;
  const int result = next(files, count, timeout);
  watch.end();
  return result;
}

CULPRIT_EXPORT int ppoll(pollfd* files, nfds_t count, const timespec* timeout,
                         const sigset_t* mask) {
  auto* const next = g_ppoll.get();
  if (next == nullptr) return missing();
  Watch watch;
  const int result = next(files, count, timeout, mask);
  watch.end();
  return result;
}

CULPRIT_EXPORT int select(int count, fd_set* in, fd_set* out, fd_set* odd, timeval* timeout) {
  auto* const next = g_select.get();
  if (next == nullptr) return missing();
  Watch watch;
  const int result = next(count, in, out, odd, timeout);
  watch.end();
  return result;
}

CULPRIT_EXPORT int pselect(int count, fd_set* in, fd_set* out, fd_set* odd, const timespec* timeout,
                           const sigset_t* mask) {
  auto* const next = g_pselect.get();
  if (next == nullptr) return missing();
  Watch watch;
  const int result = next(count, in, out, odd, timeout, mask);
  watch.end();
  return result;
}

CULPRIT_EXPORT int epoll_wait(int queue, epoll_event* events, int count, int timeout) {
  auto* const next = g_epoll_wait.get();
  if (next == nullptr) return missing();
  if (timeout == 0) return next(queue, events, count, timeout);
  Watch watch;
  const int result = next(queue, events, count, timeout);
  watch.end();
  return result;
}

CULPRIT_EXPORT int pthread_join(pthread_t thread, void** result) {
  auto* const next = g_pthread_join.get();
  if (next == nullptr) return ESRCH;
  Watch watch("pthread_join");
  const int error = next(thread, result);
  watch.end();
  return error;
}

}  // extern "C"
