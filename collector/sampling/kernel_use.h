// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Page faults and time in the kernel, read with the samples that are taken anyway (getrusage of the
// thread). The kernel divides a thread's time at the very ticks at which it looks at the timers of
// samples, so time in the kernel that has come since the last sample was mostly spent where this
// one found the thread. Page faults are reported with the time that they took: until some has come,
// they are kept.
#pragma once

#include <cstdint>

#include "collector/recorder/thread_log.h"

namespace culprit::collector::sampling {

/// Begins to count for this thread: what it did before is not reported.
void begin_kernel_use();
/// Records what has come since the last time, if it is worth a record. `sampled_pc`: the newest
/// record is a sample that found the thread at this instruction; 0: there is none of this moment.
/// Signal-safe.
void tell_kernel_use(ThreadLog& log, uintptr_t sampled_pc);

}  // namespace culprit::collector::sampling
