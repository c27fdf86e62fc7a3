// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Notices that a thread spins: at each sample it is at one of a few instructions, with the same
// values in all registers as the last time that it was there. A thread that computes changes some
// of them. The thread's records mark the begin of spinning (`spin`), and its end.
#pragma once

#include <ucontext.h>

#include "collector/recorder/thread_log.h"

namespace culprit::collector::sampling {

/// To be called for each sample of the thread. `context`: the signal handler's. Signal-safe.
void watch_spinning(ThreadLog& log, uint64_t time, const ucontext_t& context);

}  // namespace culprit::collector::sampling
