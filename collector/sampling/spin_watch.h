// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Notices that a thread spins: at each sample it stands at one of a few instructions, with the same
// in all registers as the last time that it stood there. Whoever computes changes something of
// them. The thread's records say so (`spin`), and when it is over.
#pragma once

#include <ucontext.h>

#include "collector/recorder/thread_log.h"

namespace culprit::collector::sampling {

/// To be told of each sample of the thread. `context`: the signal handler's. Signal-safe.
void watch_spinning(ThreadLog& log, uint64_t time, const ucontext_t& context);

}  // namespace culprit::collector::sampling
