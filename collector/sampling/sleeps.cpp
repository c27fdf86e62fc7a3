// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What libraries of MPI and OpenMP do while they wait is not told.
#include "collector/sampling/sleeps.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <time.h>
#include <unistd.h>

#include "collector/sampling/blocking_call.h"

namespace culprit::collector::sampling {

namespace {

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
  g_epoll_wait.find();
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

}  // extern "C"
