// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Stands in for the calls by which threads lock mutexes, read-write locks and spin locks. A lock is
// tried first, so that one that is free costs nothing else.
#include <errno.h>
#include <pthread.h>
#include <time.h>

#include "collector/callpath/registered_frames.h"
#include "collector/process/next.h"
#include "collector/sampling/thread_wait.h"
#include "collector/sampling/thread_waits.h"

namespace culprit::collector::sampling {

namespace {

constinit Next<int(pthread_mutex_t*)> g_mutex_lock("pthread_mutex_lock");
constinit Next<int(pthread_mutex_t*)> g_mutex_trylock("pthread_mutex_trylock");
constinit Next<int(pthread_mutex_t*, const timespec*)> g_mutex_timedlock("pthread_mutex_timedlock");
constinit Next<int(pthread_mutex_t*, clockid_t, const timespec*)> g_mutex_clocklock(
    "pthread_mutex_clocklock");
constinit Next<int(pthread_mutex_t*)> g_mutex_unlock("pthread_mutex_unlock");
constinit Next<int(pthread_rwlock_t*)> g_rwlock_rdlock("pthread_rwlock_rdlock");
constinit Next<int(pthread_rwlock_t*)> g_rwlock_tryrdlock("pthread_rwlock_tryrdlock");
constinit Next<int(pthread_rwlock_t*)> g_rwlock_wrlock("pthread_rwlock_wrlock");
constinit Next<int(pthread_rwlock_t*)> g_rwlock_trywrlock("pthread_rwlock_trywrlock");
constinit Next<int(pthread_rwlock_t*)> g_rwlock_unlock("pthread_rwlock_unlock");
constinit Next<int(pthread_spinlock_t*)> g_spin_lock("pthread_spin_lock");
constinit Next<int(pthread_spinlock_t*)> g_spin_trylock("pthread_spin_trylock");
constinit Next<int(pthread_spinlock_t*)> g_spin_unlock("pthread_spin_unlock");

uint64_t number_of_spin(pthread_spinlock_t* lock) {
  return number_of(const_cast<const int*>(lock));
}

}  // namespace

void find_locking_calls() {
  const KeepErrno keep;
  g_mutex_lock.find(), g_mutex_trylock.find(), g_mutex_timedlock.find(), g_mutex_clocklock.find();
  g_mutex_unlock.find();
  g_rwlock_rdlock.find(), g_rwlock_tryrdlock.find(), g_rwlock_wrlock.find();
  g_rwlock_trywrlock.find(), g_rwlock_unlock.find();
  g_spin_lock.find(), g_spin_trylock.find(), g_spin_unlock.find();
}

}  // namespace culprit::collector::sampling

extern "C" {

using namespace culprit::collector::sampling;
namespace registered_frames = culprit::collector::registered_frames;

CULPRIT_EXPORT int pthread_mutex_lock(pthread_mutex_t* mutex) noexcept {
  if (registered_frames::is_unwinders(mutex)) [[unlikely]] {
    auto* const next = g_mutex_lock.get();
    registered_frames::begin_lock();
    return next != nullptr ? next(mutex) : EINVAL;
  }
  return lock_after_try("pthread_mutex_lock", g_mutex_lock, g_mutex_trylock, mutex, EBUSY, EINVAL,
                        awaited<pthread_mutex_t>);
}

CULPRIT_EXPORT int pthread_mutex_timedlock(pthread_mutex_t* mutex, const timespec* until) noexcept {
  auto* const next = g_mutex_timedlock.get();
  if (next == nullptr) return EINVAL;
  Wait wait("pthread_mutex_timedlock", name_of(*mutex), Kind::lock, owner_of(*mutex));
  const int error = next(mutex, until);
  wait.end(error == ETIMEDOUT);
  return error;
}

CULPRIT_EXPORT int pthread_mutex_clocklock(pthread_mutex_t* mutex, clockid_t clock,
                                           const timespec* until) noexcept {
  auto* const next = g_mutex_clocklock.get();
  if (next == nullptr) return EINVAL;
  Wait wait("pthread_mutex_clocklock", name_of(*mutex), Kind::lock, owner_of(*mutex));
  const int error = next(mutex, clock, until);
  wait.end(error == ETIMEDOUT);
  return error;
}

CULPRIT_EXPORT int pthread_mutex_unlock(pthread_mutex_t* mutex) noexcept {
  auto* const next = g_mutex_unlock.get();
  if (next == nullptr) return EINVAL;
  if (registered_frames::is_unwinders(mutex)) [[unlikely]] {
    const int error = next(mutex);
    registered_frames::end_lock();
    return error;
  }
  wake_all(*mutex, Kind::lock);
  return next(mutex);
}

CULPRIT_EXPORT int pthread_rwlock_rdlock(pthread_rwlock_t* lock) noexcept {
  return lock_after_try("pthread_rwlock_rdlock", g_rwlock_rdlock, g_rwlock_tryrdlock, lock, EBUSY,
                        EINVAL, awaited<pthread_rwlock_t>);
}

CULPRIT_EXPORT int pthread_rwlock_wrlock(pthread_rwlock_t* lock) noexcept {
  return lock_after_try("pthread_rwlock_wrlock", g_rwlock_wrlock, g_rwlock_trywrlock, lock, EBUSY,
                        EINVAL, awaited<pthread_rwlock_t>);
}

CULPRIT_EXPORT int pthread_rwlock_unlock(pthread_rwlock_t* lock) noexcept {
  auto* const next = g_rwlock_unlock.get();
  if (next == nullptr) return EINVAL;
  wake_all(*lock, Kind::lock);
  return next(lock);
}

/// The lock does not show whether other processes use it, so that only threads of this one are
/// known to be let go on.
CULPRIT_EXPORT int pthread_spin_lock(pthread_spinlock_t* lock) noexcept {
  return lock_after_try("pthread_spin_lock", g_spin_lock, g_spin_trylock, lock, EBUSY, EINVAL,
                        [](pthread_spinlock_t& it) { return Awaited{number_of_spin(&it)}; });
}

CULPRIT_EXPORT int pthread_spin_unlock(pthread_spinlock_t* lock) noexcept {
  auto* const next = g_spin_unlock.get();
  if (next == nullptr) return EINVAL;
  wake(number_of_spin(lock), Kind::lock);
  return next(lock);
}

}  // extern "C"
