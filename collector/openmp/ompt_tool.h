// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// State that the parts of the OpenMP probe share: whether the runtime is still alive, and the
// regions that this thread is in.
#pragma once

#include <omp-tools.h>

#include "collector/openmp/thread_state.h"
#include "collector/process/recorder.h"

namespace culprit::collector::openmp {

/// False before the runtime has started us and from its end on: callbacks that still come then
/// (runtimes send them from their own late destructors) must be ignored.
bool alive();

/// From now on we are alive: gives `set` all callbacks that are wanted. `version` is the runtime's
/// description of itself. False if this process is not to be recorded.
bool begin_callbacks(ompt_set_callback_t set, const char* version);

/// If not 0, the time of the event that this thread's callbacks are called for; it serves several
/// callbacks for one moment.
[[gnu::tls_model("initial-exec")]] constinit inline thread_local uint64_t t_moment = 0;

inline uint64_t callback_time() {
  return t_moment != 0 ? t_moment : now();
}

/// The log of this thread if its events are wanted. It is for callbacks: a thread that does
/// anything has its mutex, or has failed to get it, which no callback reports.
inline ThreadLog* live_log() {
  ThreadLog* log = alive() ? thread_log() : nullptr;
  if (log != nullptr) thread_state().waits.end_mutex(*log);
  return log;
}

}  // namespace culprit::collector::openmp
