// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The counters that the environment asks for, read by each thread at the borders of its records
// (ThreadLog::count). Which of them work here is decided once in a process, when its first thread
// begins; those that do not are named in the records and left out. MT: each thread reads its own. A
// thread that begins while another decides counts from its next border on.
#pragma once

#include "collector/process/recorder.h"

namespace culprit::collector::counters {

/// Has each recording thread count from now on, if the environment asks for counters.
void start();

/// At most this many; more are refused.
inline constexpr unsigned kMaxCounters = 32;

/// This thread's values, in order of their definition. Returns how many; 0: none can be read.
unsigned read(uint64_t (&values)[kMaxCounters]);

}  // namespace culprit::collector::counters
