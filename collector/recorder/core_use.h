// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// How much of a core the process's threads got: CPU time, the time in which they could have run and
// had no core, and which cores they might use. Linux keeps the first two for each thread
// (/proc/self/task/*/schedstat), where it is built to. It is looked at about once a second, by
// whichever thread computes: threads that all sleep lack no core, and what a killed process had is
// in its records.
#pragma once

#include "collector/process/recorder.h"

namespace culprit::collector {

/// Once, when the process is recorded: threads that end are counted from now on.
void begin_core_use();

/// Whether the last look is a second ago, or longer where looks are dear. Async-signal-safe.
bool core_use_is_old();

/// Writes what is known by now into the process's record: of threads that live, and of those that
/// ended; and into `log`, if there is one, of each thread that used any. Reads files for each
/// living thread. Async-signal-safe.
void refresh_core_use(ThreadLog* log);

/// Records what this thread, whose log is `log`, had: time without samples in which it had a core
/// is different from time in which it slept. Nothing where the kernel does not tell.
/// Async-signal-safe.
void put_cpu_time(ThreadLog& log);

/// In a forked child: what its parent had is not its own.
void forget_core_use();

}  // namespace culprit::collector
