// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Mutual exclusion. An acquire is recorded at once, not when it succeeds: the record of a program
// that hangs on a lock shows where. Tests may lack the acquired event (they failed), and carry the
// lock's own kind in some runtimes. Most acquires succeed at once, and the release is the next
// event: then both are noted in the record of the acquire, at less than half the cost.
#include "collector/openmp/callbacks.h"
#include "collector/openmp/ompt_tool.h"

namespace culprit::collector::openmp {

namespace {

bool may_wait(ompt_mutex_t kind) {
  return kind != ompt_mutex_test_lock && kind != ompt_mutex_test_nest_lock;
}

void on_acquire(ompt_mutex_t kind, unsigned, unsigned, ompt_wait_id_t wait, const void* codeptr) {
  const uint64_t time = now();
  ThreadLog* log = live_log();
  if (log == nullptr) return;
  if (may_wait(kind)) thread_state().waits.begin_mutex(*log);
  log->put(time, raw::omp_mutex_acquire{
                     .kind = static_cast<uint16_t>(kind), .mutex = wait, .code = as_word(codeptr)});
}

void on_acquired(ompt_mutex_t kind, ompt_wait_id_t wait, const void* codeptr) {
  const uint64_t time = now();
  ThreadLog* log = live_log();
  if (log == nullptr) return;
  const auto flags = static_cast<uint16_t>(kind);
  if (log->note(&raw::omp_mutex_acquire::acquired_after, time, flags, wait)) return;
  log->put(time, raw::omp_mutex_acquired{.kind = flags, .mutex = wait, .code = as_word(codeptr)});
}

void on_released(ompt_mutex_t kind, ompt_wait_id_t wait, const void* codeptr) {
  const uint64_t time = now();
  ThreadLog* log = live_log();
  if (log == nullptr) return;
  const auto flags = static_cast<uint16_t>(kind);
  if (log->note(&raw::omp_mutex_acquire::released_after, time, flags, wait)) return;
  log->put(time, raw::omp_mutex_released{.kind = flags, .mutex = wait, .code = as_word(codeptr)});
}

/// The holder of a nest lock sets or unsets it once more, which involves no wait.
void on_nest_lock(ompt_scope_endpoint_t endpoint, ompt_wait_id_t wait, const void* codeptr) {
  const uint64_t time = now();
  ThreadLog* log = live_log();
  if (log == nullptr) return;
  log->put(time, raw::omp_nest_lock{.endpoint = static_cast<uint16_t>(endpoint),
                                    .mutex = wait,
                                    .code = as_word(codeptr)});
}

void on_init(ompt_mutex_t kind, unsigned, unsigned, ompt_wait_id_t wait, const void* codeptr) {
  const uint64_t time = now();
  ThreadLog* log = live_log();
  if (log == nullptr) return;
  log->put(time, raw::omp_lock_init{
                     .kind = static_cast<uint16_t>(kind), .mutex = wait, .code = as_word(codeptr)});
}

void on_destroy(ompt_mutex_t kind, ompt_wait_id_t wait, const void* codeptr) {
  const uint64_t time = now();
  ThreadLog* log = live_log();
  if (log == nullptr) return;
  log->put(time, raw::omp_lock_destroy{
                     .kind = static_cast<uint16_t>(kind), .mutex = wait, .code = as_word(codeptr)});
}

}  // namespace

void register_mutex_callbacks(ompt_set_callback_t set) {
  register_callback(set, ompt_callback_mutex_acquire, on_acquire);
  register_callback(set, ompt_callback_mutex_acquired, on_acquired);
  register_callback(set, ompt_callback_mutex_released, on_released);
  register_callback(set, ompt_callback_nest_lock, on_nest_lock);
  register_callback(set, ompt_callback_lock_init, on_init);
  register_callback(set, ompt_callback_lock_destroy, on_destroy);
}

}  // namespace culprit::collector::openmp
