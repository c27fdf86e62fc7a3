// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// How long a thread had a core, and how long it wanted one in vain, as the kernel's scheduler
// counts: time without samples in which it had one is different from time in which it slept.
#pragma once

#include "collector/recorder/recorder.h"

namespace culprit::collector {

/// Records it of this thread, whose log is `log`; nothing where the kernel does not tell.
/// Async-signal-safe.
void put_cpu_time(ThreadLog& log);

}  // namespace culprit::collector
