// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The callbacks by their subject, each group in a file of its own; every group registers itself.
#pragma once

#include <omp-tools.h>

namespace culprit::collector::openmp {

/// Threads, parallel regions and their implicit tasks.
void register_region_callbacks(ompt_set_callback_t set);
/// The callback for a caller that knows that the forking thread leaves its implicit task and the
/// region at once: it replaces the callbacks of both.
ompt_callback_parallel_end_t leave_callback();
/// The waits at barriers, taskwaits, taskgroups; if `work`, also worksharing, masked, reductions
/// and cancellation.
void register_construct_callbacks(ompt_set_callback_t set, bool work);
/// The callback for a caller that knows that a barrier or taskwait is waiting from begin to end: it
/// replaces the callbacks of both.
ompt_callback_sync_region_t sync_and_wait_callback();
/// Locks, critical sections, ordered, atomic.
void register_mutex_callbacks(ompt_set_callback_t set);
/// Explicit tasks: their creation, and which thread runs them when.
void register_task_callbacks(ompt_set_callback_t set);
/// Work that host threads do for devices.
void register_target_callbacks(ompt_set_callback_t set);

/// The number of an explicit task; 0 for implicit tasks and those that began before us. The data of
/// implicit tasks must stay 0: LLVM's runtime (19) keeps a copy of them where a later taskwait with
/// dependences expects 0, and aborts the program if it finds anything else.
inline uint64_t task_number(const ompt_data_t* task) {
  return task == nullptr ? 0 : task->value;
}

/// A function in the type in which OMPT expects callbacks.
template <class Function>
void register_callback(ompt_set_callback_t set, ompt_callbacks_t which, Function function) {
  set(which, reinterpret_cast<ompt_callback_t>(function));
}

inline uint64_t as_word(const void* pointer) {
  return reinterpret_cast<uintptr_t>(pointer);
}

}  // namespace culprit::collector::openmp
