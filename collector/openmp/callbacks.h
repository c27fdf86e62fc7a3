// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The callbacks by what they tell of, each group in a file of its own; every group registers
// itself.
#pragma once

#include <omp-tools.h>

namespace culprit::collector::openmp {

/// Threads, parallel regions and their implicit tasks.
void register_region_callbacks(ompt_set_callback_t set);
/// Worksharing, masked, and the waits at barriers, taskwaits and taskgroups.
void register_construct_callbacks(ompt_set_callback_t set);
/// Locks, critical sections, ordered, atomic.
void register_mutex_callbacks(ompt_set_callback_t set);
/// Explicit tasks: their creation, and who runs them when.
void register_task_callbacks(ompt_set_callback_t set);

/// Marks the data of a task as that of an implicit task of `region`; explicit tasks carry their
/// number.
inline constexpr uint64_t kImplicitTask = uint64_t{1} << 63;

/// The way OMPT wants functions handed over.
template <class Function>
void register_callback(ompt_set_callback_t set, ompt_callbacks_t which, Function function) {
  set(which, reinterpret_cast<ompt_callback_t>(function));
}

inline uint64_t as_word(const void* pointer) {
  return reinterpret_cast<uintptr_t>(pointer);
}

}  // namespace culprit::collector::openmp
