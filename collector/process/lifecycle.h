// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What the preload library tells the recorder about the process it is in (process_life.cpp).
#pragma once

#include "collector/process/recorder.h"

namespace culprit::collector::lifecycle {

/// The library was loaded: the run starts now. Idempotent.
void load();

/// The process exits in order. Called on the exiting thread while others may still run.
void end();

/// As much has been written as may be (budget.h): recording is over, the program goes on.
/// Async-signal-safe.
void stop_at_limit();
/// The program forbids system calls: recording is over, and nothing that is left makes any.
void stop_at_confinement();

bool is_active();

/// The program makes a thread by itself: that makes the process worth recording, as long as nothing
/// else does. Children forked from it begin anew, as those of a process that is not recorded.
void activate_for_threads();

/// The process was forked and has not executed anything else for a while, or has such a child: it
/// is worth recording, likewise.
void activate_if_worthwhile();

/// It was forked by a process that was not recorded then, and has begun anew. Async-signal-safe.
bool is_forked();

/// From now on samples and sleeps of the program's own threads are kept in memory, until the
/// process turns out to be worth recording. At load.
void begin_early();
/// Whether they are to be taken: since begin_early() or activation. Async-signal-safe.
bool is_watching();

/// Where they go: this thread's log; made if need be, if it is one of the program's own. nullptr
/// if somebody is inside it.
ThreadLog* watched_log();
ThreadLog* watched_log_in_signal();

}  // namespace culprit::collector::lifecycle
