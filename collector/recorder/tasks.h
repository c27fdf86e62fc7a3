// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// All threads of the process, as the system numbers them: the program's, and those that libraries
// made for themselves, before recording began or beside it. Few of the latter ever call what is
// observed, so they have no log; what they use of the cores others lack all the same.
// MT: safe, but for look(), which one thread at a time may call. Async-signal-safe.
#pragma once

#include <sys/types.h>

#include <cstdint>

#include "collector/process/recorder.h"

namespace culprit::collector::tasks {

/// This thread was made by `library`, a file's name.
void note_maker(const char* library);

/// This thread ends, and has said what it used.
void note_end();

struct Use {
  uint64_t on_core_ns = 0;
  uint64_t without_ns = 0;  ///< it could run, and had no core
};

/// Of this thread. False if the system does not tell.
bool own_use(Use& use);

struct Look {
  Use use;               ///< of all threads that have not said by themselves what they used
  unsigned threads = 0;  ///< that live
  bool known = false;
};

/// Looks at all threads; those that have used something since they were last told of are recorded
/// in `log`, if it is there. `cores` collects where they may run.
Look look(ThreadLog* log, uint64_t (&cores)[trace::kRawCoreWords]);

/// In a forked child: nobody of the parent's is here.
void forget();

}  // namespace culprit::collector::tasks
