// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// One thread of ours, which sees where threads of the process sleep that nobody stands in front of
// (docs/decisions/0030). MT: safe.
#pragma once

namespace culprit::collector::sampling::watcher {

/// Begins to watch a process that is recorded and has several threads anyway; others are left as
/// they are. Not in signal handlers. Cheap where there is nothing to do.
void begin();
/// Another thread was made.
void note_thread();
/// It ends for good: once it returns, the thread is gone, unless it gets no core for long.
void end();
/// In a forked child, which does not have the thread.
void forget();

}  // namespace culprit::collector::sampling::watcher
