// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// One thread of ours, which finds where threads of the process sleep in calls without a stand-in
// (docs/decisions/0030). MT: safe.
#pragma once

namespace culprit::collector::sampling::watcher {

/// Begins to watch a process that is recorded and has several threads anyway; others are left
/// alone. Not in signal handlers. Cheap if it is already running or not needed.
void begin();
/// Another thread was made.
void note_thread();
/// Ends the watcher for good: once this returns, its thread is gone, unless it gets no core for
/// long.
void end();
/// Called in a forked child, which does not have the thread.
void forget();

}  // namespace culprit::collector::sampling::watcher
