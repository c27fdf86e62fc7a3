// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Mutual exclusion: critical sections, atomics that need the runtime, `ordered`, locks. The nesting
// count of a nest lock is returned only by a test, so setting tests it first, and unsetting tests
// it once more. Fortran's locks are variables that hold or point to one: the variable is the lock.
#include <cstdint>

#include "collector/openmp/gomp/events.h"
#include "collector/openmp/gomp/stand_in.h"

namespace culprit::collector::openmp::gomp {

namespace {

char g_unnamed;  ///< its address stands for the critical section without a name
char g_atomic;   ///< its address stands for all atomics

ompt_wait_id_t id_of(const void* mutex) {
  return reinterpret_cast<uintptr_t>(mutex);
}

template <Name name, ompt_mutex_t kind>
void acquire(void* mutex) {
  const void* const code = __builtin_return_address(0);
  g_events.acquire(kind, 0, 0, id_of(mutex), code);
  real<name, void(void*)>()(mutex);
  g_events.acquired(kind, id_of(mutex), code);
}

template <Name name, ompt_mutex_t kind>
void release(void* mutex) {
  const void* const code = __builtin_return_address(0);
  real<name, void(void*)>()(mutex);
  g_events.released(kind, id_of(mutex), code);
}

template <Name name, ompt_mutex_t kind, char& mutex>
void acquire_only() {
  const void* const code = __builtin_return_address(0);
  g_events.acquire(kind, 0, 0, id_of(&mutex), code);
  real<name, void()>()();
  g_events.acquired(kind, id_of(&mutex), code);
}

template <Name name, ompt_mutex_t kind, char& mutex>
void release_only() {
  const void* const code = __builtin_return_address(0);
  real<name, void()>()();
  g_events.released(kind, id_of(&mutex), code);
}

template <Name name>
int test(void* lock) {
  const void* const code = __builtin_return_address(0);
  g_events.acquire(ompt_mutex_test_lock, 0, 0, id_of(lock), code);
  const int acquired = real<name, int(void*)>()(lock);
  if (acquired != 0) g_events.acquired(ompt_mutex_test_lock, id_of(lock), code);
  return acquired;
}

template <Name name, ompt_mutex_t kind>
void init(void* lock) {
  real<name, void(void*)>()(lock);
  g_events.lock_init(kind, 0, 0, id_of(lock), __builtin_return_address(0));
}

template <Name name, ompt_mutex_t kind>
void destroy(void* lock) {
  g_events.lock_destroy(kind, id_of(lock), __builtin_return_address(0));
  real<name, void(void*)>()(lock);
}

// --- Turns in ordered loops ---

/// A team has one ordered loop at a time: the region's number identifies the turn.
ompt_wait_id_t turn() {
  return thread_state().regions.top();
}

template <Name name>
void begin_turn() {
  const void* const code = __builtin_return_address(0);
  g_events.acquire(ompt_mutex_ordered, 0, 0, turn(), code);
  real<name, void()>()();
  g_events.acquired(ompt_mutex_ordered, turn(), code);
}

template <Name name>
void end_turn() {
  const void* const code = __builtin_return_address(0);
  real<name, void()>()();
  g_events.released(ompt_mutex_ordered, turn(), code);
}

// --- Nest locks ---

/// How often the calling thread holds the lock now: 0 if another thread does.
template <Name test>
int take_if_free(void* lock) {
  return real<test, int(void*)>()(lock);
}

void tell_nest_taken(ompt_mutex_t kind, int held, void* lock, const void* code) {
  if (held == 1) g_events.acquired(kind, id_of(lock), code);
  if (held > 1) g_events.nest_lock(ompt_scope_begin, id_of(lock), code);
}

template <Name name, Name test>
void set_nest(void* lock) {
  const void* const code = __builtin_return_address(0);
  g_events.acquire(ompt_mutex_nest_lock, 0, 0, id_of(lock), code);
  int held = take_if_free<test>(lock);
  if (held == 0) {
    real<name, void(void*)>()(lock);
    held = 1;
  }
  tell_nest_taken(ompt_mutex_nest_lock, held, lock, code);
}

template <Name name, Name test>
void unset_nest(void* lock) {
  const void* const code = __builtin_return_address(0);
  const auto unset = real<name, void(void*)>();
  const int held = take_if_free<test>(lock);  // the count includes this time
  if (held > 0) unset(lock);
  unset(lock);
  if (held > 2) {
    g_events.nest_lock(ompt_scope_end, id_of(lock), code);
  } else {
    g_events.released(ompt_mutex_nest_lock, id_of(lock), code);
  }
}

template <Name name>
int test_nest(void* lock) {
  const void* const code = __builtin_return_address(0);
  g_events.acquire(ompt_mutex_test_nest_lock, 0, 0, id_of(lock), code);
  const int held = real<name, int(void*)>()(lock);
  tell_nest_taken(ompt_mutex_test_nest_lock, held, lock, code);
  return held;
}

// C's functions, and Fortran's, which end in "_".
#define CULPRIT_LOCKS(end)                                                        \
  CULPRIT_OFFER("omp_init_lock" end, init, ompt_mutex_lock);                      \
  CULPRIT_OFFER("omp_destroy_lock" end, destroy, ompt_mutex_lock);                \
  CULPRIT_OFFER("omp_set_lock" end, acquire, ompt_mutex_lock);                    \
  CULPRIT_OFFER("omp_unset_lock" end, release, ompt_mutex_lock);                  \
  CULPRIT_OFFER("omp_test_lock" end, test);                                       \
  CULPRIT_OFFER("omp_init_nest_lock" end, init, ompt_mutex_nest_lock);            \
  CULPRIT_OFFER("omp_destroy_nest_lock" end, destroy, ompt_mutex_nest_lock);      \
  CULPRIT_OFFER("omp_set_nest_lock" end, set_nest, "omp_test_nest_lock" end);     \
  CULPRIT_OFFER("omp_unset_nest_lock" end, unset_nest, "omp_test_nest_lock" end); \
  CULPRIT_OFFER("omp_test_nest_lock" end, test_nest)

void offer_locks(Match& match) {
  CULPRIT_LOCKS("");
  CULPRIT_LOCKS("_");
}

#undef CULPRIT_LOCKS

}  // namespace

void offer_mutexes(Match& match) {
  CULPRIT_OFFER("GOMP_critical_start", acquire_only, ompt_mutex_critical, g_unnamed);
  CULPRIT_OFFER("GOMP_critical_end", release_only, ompt_mutex_critical, g_unnamed);
  CULPRIT_OFFER("GOMP_critical_name_start", acquire, ompt_mutex_critical);
  CULPRIT_OFFER("GOMP_critical_name_end", release, ompt_mutex_critical);
  CULPRIT_OFFER("GOMP_atomic_start", acquire_only, ompt_mutex_atomic, g_atomic);
  CULPRIT_OFFER("GOMP_atomic_end", release_only, ompt_mutex_atomic, g_atomic);
  CULPRIT_OFFER("GOMP_ordered_start", begin_turn);
  CULPRIT_OFFER("GOMP_ordered_end", end_turn);
  offer_locks(match);
}

}  // namespace culprit::collector::openmp::gomp
