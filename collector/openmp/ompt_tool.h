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

/// The log of this thread if its events are wanted.
inline ThreadLog* live_log() {
  return alive() ? thread_log() : nullptr;
}

}  // namespace culprit::collector::openmp
