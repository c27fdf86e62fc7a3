// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Events of the process that the preload library reports to the recorder (process_life.cpp).
#pragma once

#include "collector/process/recorder.h"

namespace culprit::collector::lifecycle {

/// The library was loaded: the run starts now. Idempotent.
void load();

/// The process exits in order. Called on the exiting thread while other threads may still run.
void end();

/// The program forbids system calls: recording is over, and the rest of the collector makes none.
void stop_at_confinement();

bool is_active();

/// The program makes a thread by itself: that makes the process worth recording, as long as no
/// other event has done so. Children forked from it begin anew, as those of all processes that do
/// not use MPI.
void activate_for_threads();

/// The program opens something by which it may wait for other processes, or executes a command and
/// waits for it: likewise.
void activate_for_sharing();

/// The process was forked and has not executed another program for a while, or has such a child: it
/// is worth recording, likewise.
void activate_if_worthwhile();

/// Whether the process was forked by one that was not recorded then, and has begun anew.
/// Async-signal-safe.
bool is_forked();

/// From now on samples and sleeps of the program's own threads are kept in memory, until the
/// process turns out to be worth recording. At load.
void begin_early();
/// Whether that is so: nothing is recorded or watched yet, and the process may be recorded.
/// Async-signal-safe.
bool may_begin_early();
/// Whether they are collected: since begin_early() or activation. Async-signal-safe.
bool is_watching();

/// The log for them: this thread's, made if need be if it is one of the program's own threads.
/// nullptr if the log is in use.
ThreadLog* watched_log();
ThreadLog* watched_log_in_signal();

}  // namespace culprit::collector::lifecycle
