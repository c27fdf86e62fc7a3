// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The state that glibc keeps in the objects by which threads wait for each other: their holder,
// their waiters, and whether other processes use them. Also their names in records: their address,
// or for processes that share their memory, a name that all of these derive alike.
#pragma once

#include <pthread.h>
#include <semaphore.h>

#include <cstdint>
#include <cstring>

#include "collector/sampling/processes/shared_memory.h"

namespace culprit::collector::sampling {

inline uint64_t number_of(const void* object) {
  return reinterpret_cast<uintptr_t>(object);
}

/// The holder: the system's number of the thread.
inline constexpr uint32_t kUnknown = 0, kShared = ~uint32_t{0};
inline uint32_t owner_of(const pthread_mutex_t& mutex) {
  constexpr int kSharedMutex = 128;
  if ((mutex.__data.__kind & kSharedMutex) != 0) return kShared;
  return static_cast<uint32_t>(__atomic_load_n(&mutex.__data.__owner, __ATOMIC_RELAXED));
}
inline uint32_t owner_of(const pthread_rwlock_t& lock) {
  if (lock.__data.__shared != 0) return kShared;
  return static_cast<uint32_t>(__atomic_load_n(&lock.__data.__cur_writer, __ATOMIC_RELAXED));
}
inline uint32_t owner_of(const pthread_cond_t& condition) {
  return (__atomic_load_n(&condition.__data.__wrefs, __ATOMIC_RELAXED) & 1) != 0 ? kShared
                                                                                 : kUnknown;
}
/// A barrier is in the words of glibc's: how many threads have arrived since it was made, up to
/// which arrival a round is complete, how many meet, and whether other processes do.
struct BarrierWords {
  uint32_t arrived, complete, members, shared;
};
inline BarrierWords words_of(const pthread_barrier_t& barrier) {
  BarrierWords words;
  memcpy(&words, barrier.__size, sizeof words);
  return words;
}
inline uint32_t owner_of(const pthread_barrier_t& barrier) {
  return words_of(barrier).shared != 0 ? kShared : kUnknown;
}
/// The word behind the count says whether the semaphore is for one process alone.
inline uint32_t owner_of(const sem_t& semaphore) {
  int shared;
  memcpy(&shared, semaphore.__size + sizeof(uint64_t), sizeof shared);
  return shared != 0 ? kShared : kUnknown;
}

inline bool has_waiters(const pthread_mutex_t& mutex) {
  return __atomic_load_n(&mutex.__data.__lock, __ATOMIC_RELAXED) > 1;
}
inline bool has_waiters(const pthread_cond_t& condition) {
  return __atomic_load_n(&condition.__data.__wrefs, __ATOMIC_RELAXED) >> 3 != 0;
}
/// While a writer has the lock, all readers that are counted wait.
inline bool has_waiters(const pthread_rwlock_t& lock) {
  constexpr unsigned kWriterHasIt = 1, kReadersShift = 3;
  const unsigned readers = __atomic_load_n(&lock.__data.__readers, __ATOMIC_RELAXED);
  return ((readers & kWriterHasIt) != 0 && readers >> kReadersShift != 0) ||
         __atomic_load_n(&lock.__data.__writers, __ATOMIC_RELAXED) != 0;
}
inline bool has_waiters(const pthread_barrier_t& barrier) {
  const BarrierWords words = words_of(barrier);
  return words.arrived != words.complete;
}
inline bool has_waiters(const sem_t& semaphore) {
  uint64_t word;  // the count, and in the upper half the number of waiters
  memcpy(&word, semaphore.__size, sizeof word);
  return word >> 32 != 0;
}

/// The object's name, which a waiting thread and a thread that lets it go on derive alike.
template <class Sync>
uint64_t name_of(const Sync& sync) {
  return owner_of(sync) == kShared ? shared_object(&sync) : number_of(&sync);
}

}  // namespace culprit::collector::sampling
