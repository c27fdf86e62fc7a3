// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Whether this process is watched between its events: stand-ins check this first. The sampling
// probe sets it (sampler.cpp).
#pragma once

#include "collector/process/lifecycle.h"

namespace culprit::collector::sampling {

/// The sampling probe has started.
bool has_started();
/// Whether what the program's threads do between events is recorded now.
inline bool is_watched() {
  return has_started() && lifecycle::is_watching();
}
/// False in a child that was made without fork's handlers (clone): it shares the mapped files.
bool is_same_process();
/// The same, but true in children that share this process's memory (vfork), whose parent sleeps
/// meanwhile. It costs no system call.
bool is_same_memory();
/// From now on this thread is sampled, and others that begin, although the process may not turn out
/// to be worth recording. Does nothing if that is so already, or the process is not to be recorded.
void watch_early();
/// Ends all watching: once this returns, the watching code makes no system calls.
void stop_watching();

}  // namespace culprit::collector::sampling
