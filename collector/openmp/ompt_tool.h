// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What the parts of the OpenMP probe share: is the runtime still alive, and what this thread is in.
#pragma once

#include "collector/openmp/thread_state.h"
#include "collector/recorder.h"

namespace culprit::collector::openmp {

/// False before the runtime has started us and from its end on: callbacks that still come then
/// (runtimes send them from their own late destructors) must be ignored.
bool alive();

/// The log of this thread if its events are wanted. For callbacks: a thread that does anything has
/// its mutex, or has failed to get it, which no callback tells.
inline ThreadLog* live_log() {
  ThreadLog* log = alive() ? thread_log() : nullptr;
  if (log != nullptr) thread_state().waits.end_mutex(*log);
  return log;
}

}  // namespace culprit::collector::openmp
