// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Stands in for the calls by which C11's threads wait for each other. glibc has them call POSIX's
// within itself, on objects that are the same.
#include <errno.h>
#include <threads.h>
#include <time.h>

#include "collector/process/next.h"
#include "collector/sampling/thread_wait.h"
#include "collector/sampling/thread_waits.h"

namespace culprit::collector::sampling {

namespace {

constinit Next<int(mtx_t*)> g_mutex_lock("mtx_lock");
constinit Next<int(mtx_t*)> g_mutex_trylock("mtx_trylock");
constinit Next<int(mtx_t*, const timespec*)> g_mutex_timedlock("mtx_timedlock");
constinit Next<int(mtx_t*)> g_mutex_unlock("mtx_unlock");
constinit Next<int(cnd_t*, mtx_t*)> g_cond_wait("cnd_wait");
constinit Next<int(cnd_t*, mtx_t*, const timespec*)> g_cond_timedwait("cnd_timedwait");
constinit Next<int(cnd_t*)> g_cond_signal("cnd_signal");
constinit Next<int(cnd_t*)> g_cond_broadcast("cnd_broadcast");
constinit Next<int(thrd_t, int*)> g_join("thrd_join");

static_assert(sizeof(mtx_t) == sizeof(pthread_mutex_t) && sizeof(cnd_t) == sizeof(pthread_cond_t));

const pthread_mutex_t& posix(const mtx_t& mutex) {
  return reinterpret_cast<const pthread_mutex_t&>(mutex);
}

const pthread_cond_t& posix(const cnd_t& condition) {
  return reinterpret_cast<const pthread_cond_t&>(condition);
}

}  // namespace

void find_c11_calls() {
  const KeepErrno keep;
  g_mutex_lock.find(), g_mutex_trylock.find(), g_mutex_timedlock.find(), g_mutex_unlock.find();
  g_cond_wait.find(), g_cond_timedwait.find(), g_cond_signal.find(), g_cond_broadcast.find();
  g_join.find();
}

}  // namespace culprit::collector::sampling

extern "C" {

using namespace culprit::collector::sampling;

CULPRIT_EXPORT int mtx_lock(mtx_t* mutex) {
  return lock_after_try("mtx_lock", g_mutex_lock, g_mutex_trylock, mutex, thrd_busy, thrd_error,
                        [](const mtx_t& it) { return awaited(posix(it)); });
}

CULPRIT_EXPORT int mtx_timedlock(mtx_t* mutex, const timespec* until) {
  auto* const next = g_mutex_timedlock.get();
  if (next == nullptr) return thrd_error;
  Wait wait("mtx_timedlock", name_of(posix(*mutex)), Kind::lock, owner_of(posix(*mutex)));
  const int error = next(mutex, until);
  wait.end(error == thrd_timedout);
  return error;
}

CULPRIT_EXPORT int mtx_unlock(mtx_t* mutex) {
  auto* const next = g_mutex_unlock.get();
  if (next == nullptr) return thrd_error;
  wake_all(posix(*mutex), Kind::lock);
  return next(mutex);
}

CULPRIT_EXPORT int cnd_wait(cnd_t* condition, mtx_t* mutex) {
  auto* const next = g_cond_wait.get();
  if (next == nullptr) return thrd_error;
  wake_all(posix(*mutex), Kind::lock);
  Wait wait("cnd_wait", name_of(posix(*condition)), Kind::other);
  const int error = next(condition, mutex);
  wait.end();
  return error;
}

CULPRIT_EXPORT int cnd_timedwait(cnd_t* condition, mtx_t* mutex, const timespec* until) {
  auto* const next = g_cond_timedwait.get();
  if (next == nullptr) return thrd_error;
  wake_all(posix(*mutex), Kind::lock);
  Wait wait("cnd_timedwait", name_of(posix(*condition)), Kind::other);
  const int error = next(condition, mutex, until);
  wait.end(error == thrd_timedout);
  return error;
}

CULPRIT_EXPORT int cnd_signal(cnd_t* condition) {
  auto* const next = g_cond_signal.get();
  if (next == nullptr) return thrd_error;
  wake_all(posix(*condition), Kind::other);
  return next(condition);
}

CULPRIT_EXPORT int cnd_broadcast(cnd_t* condition) {
  auto* const next = g_cond_broadcast.get();
  if (next == nullptr) return thrd_error;
  wake_all(posix(*condition), Kind::other);
  return next(condition);
}

CULPRIT_EXPORT int thrd_join(thrd_t thread, int* result) {
  auto* const next = g_join.get();
  if (next == nullptr) return thrd_error;
  Wait wait("thrd_join", static_cast<uint64_t>(thread), Kind::other);
  const int error = next(thread, result);
  wait.end();
  return error;
}

}  // extern "C"
