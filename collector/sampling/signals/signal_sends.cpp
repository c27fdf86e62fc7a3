// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Stands in for the calls by which a program sends signals to one process or to a thread of its
// own, and so lets threads go on that wait for them: recorded before they are sent. Signals to
// groups of processes, and those of timers, are not.
#include <errno.h>
#include <signal.h>
#include <unistd.h>

#include "collector/process/next.h"
#include "collector/process/recorder.h"
#include "collector/process/system_file.h"
#include "collector/sampling/processes/node_wakes.h"
#include "collector/sampling/signals/signal_objects.h"
#include "collector/sampling/started.h"

namespace culprit::collector::sampling {

namespace {

constinit Next<int(pid_t, int)> g_kill("kill");
constinit Next<int(pid_t, int, const sigval)> g_sigqueue("sigqueue");
constinit Next<int(pthread_t, int)> g_pthread_kill("pthread_kill");
constinit Next<int(pthread_t, int, const sigval)> g_pthread_sigqueue("pthread_sigqueue");
constinit Next<int(pid_t, pid_t, int)> g_tgkill("tgkill");

/// Signal 0 is no signal: it asks whether there is such a process.
void before_signal(pid_t process, int number) {
  if (process <= 0 || number <= 0 || !is_watched()) return;
  if (process == getpid() && g_signal_waiters.load(std::memory_order_relaxed) == 0) return;
  const KeepErrno keep;
  const uint64_t time = now();
  say_woke(signal_object(process, number), time);
  say_woke(signal_object(process, kAnySignal), time);
}

}  // namespace

std::atomic<uint32_t> g_signal_waiters{0};

void find_signal_calls() {
  const KeepErrno keep;
  g_kill.find(), g_sigqueue.find(), g_pthread_kill.find(), g_pthread_sigqueue.find();
  g_tgkill.find();
}

}  // namespace culprit::collector::sampling

extern "C" {

using namespace culprit::collector::sampling;

CULPRIT_EXPORT int kill(pid_t process, int number) noexcept {
  auto* const next = g_kill.get();
  if (next == nullptr) return errno = ENOSYS, -1;
  before_signal(process, number);
  return next(process, number);
}

CULPRIT_EXPORT int sigqueue(pid_t process, int number, const sigval value) noexcept {
  auto* const next = g_sigqueue.get();
  if (next == nullptr) return errno = ENOSYS, -1;
  before_signal(process, number);
  return next(process, number, value);
}

CULPRIT_EXPORT int tgkill(pid_t process, pid_t thread, int number) noexcept {
  auto* const next = g_tgkill.get();
  if (next == nullptr) return errno = ENOSYS, -1;
  before_signal(process, number);
  return next(process, thread, number);
}

CULPRIT_EXPORT int pthread_kill(pthread_t thread, int number) noexcept {
  auto* const next = g_pthread_kill.get();
  if (next == nullptr) return ENOSYS;
  before_signal(getpid(), number);
  return next(thread, number);
}

CULPRIT_EXPORT int pthread_sigqueue(pthread_t thread, int number, const sigval value) noexcept {
  auto* const next = g_pthread_sigqueue.get();
  if (next == nullptr) return ENOSYS;
  before_signal(getpid(), number);
  return next(thread, number, value);
}

}  // extern "C"
