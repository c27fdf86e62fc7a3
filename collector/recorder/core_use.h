// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// How much of a core the process's threads got: CPU time, the time in which they were runnable but
// had no core, and the cores they might use. Linux keeps the first two for each thread
// (/proc/self/task/*/schedstat), if it was built to. They are read about once a second, by any
// thread that computes: threads that all sleep lack no core, and the use of a killed process is in
// its records.
#pragma once

#include "collector/process/recorder.h"

namespace culprit::collector {

/// Once, when the process is recorded: threads that end are counted from now on.
void begin_core_use();

/// Whether the last look is a second ago, or longer where looks are expensive. Async-signal-safe.
bool core_use_is_old();

/// Writes the present use into the process's record, of live and of ended threads together, and
/// into `log`, if there is one, for each thread that used any. Reads files for each living thread.
/// Async-signal-safe.
void refresh_core_use(ThreadLog* log);

/// Records the core use of this thread, whose log is `log`: time without samples in which it had a
/// core differs from time in which it slept. Records nothing where the kernel does not provide it.
/// Async-signal-safe.
void put_cpu_time(ThreadLog& log);

/// In a forked child: the parent's use is not its own.
void forget_core_use();

}  // namespace culprit::collector
