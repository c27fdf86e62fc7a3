// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The one thread that this part adds to a program: it asks the backend now and then for operations
// that have ended meanwhile, so that none of this runs on the program's or the runtime's threads.
// At the end it is asked for the rest; since runtimes are known to hang just there, the wait for it
// has the caller's limit, and records that it does not bring are counted. It takes no signals.
#pragma once

#include <chrono>

namespace culprit::gpu {

/// Called on the drain's thread only. It returns whether it found anything.
using Collect = bool (*)();

/// Starts the thread, once. `collect` is called every few milliseconds while it brings something,
/// else less often.
void start_drain(Collect collect);

/// Has `collect` called soon. It waits for nothing, and may be called from anywhere.
void hurry_drain();

/// Has `last` called on the thread and waits for it, not longer than `limit`. False if it has not
/// returned (counted). The thread goes on unless `stop`. Not for the drain's own thread.
bool drain_now(Collect last, std::chrono::milliseconds limit, bool stop);

}  // namespace culprit::gpu
