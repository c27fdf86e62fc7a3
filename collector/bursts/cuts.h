// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Blame for idle threads while the program runs. A cut folds what all logs of the process have by
// now, merges the changes of their threads, and adds to the threads' rows what their work has cost
// others (fold/potential/). It is made by a thread whose slice is full, a few ten times a second at
// most. No thread ever waits for it: who finds another one at it goes on.
//
// Changes up to a millisecond ago are merged, as a thread that has read the clock has put its
// record by then; a change that comes even later counts for the moment that the merge has come to.
// Async-signal-safe, but for its effect on `errno`. MT: any thread.
#pragma once

#include <cstdint>

#include "collector/bursts/log_fold.h"

namespace culprit::collector::cuts {

/// At activation, of a process whose files are in `folder`, and which began at `start_ticks`.
void begin(const char* folder, uint64_t start_ticks);
/// In a forked child that begins anew.
void forget();

/// The log takes part from now on, and is destroyed after it was closed. False if there are too
/// many.
bool add(LogFold& log);
/// The caller holds `own`, and has folded it. Whether it is time for a cut.
bool is_due(const LogFold& own);
/// False if another thread is at it, or holds a log.
bool make(LogFold& own);
/// The last one: nobody works any more.
void finish(uint64_t time);

}  // namespace culprit::collector::cuts
