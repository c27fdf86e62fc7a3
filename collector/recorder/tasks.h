// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// All threads of the process, as the system numbers them: the program's, and those that libraries
// made for themselves, before or during recording. Few of the latter ever call an observed
// function, so they have no log; but the cores they use are not available to others. MT: safe, but
// for look(), which one thread at a time may call. Async-signal-safe.
#pragma once

#include <sys/types.h>

#include <cstdint>

#include "collector/process/recorder.h"

namespace culprit::collector::tasks {

/// This thread was made by `library`, a file's name.
void note_maker(const char* library);

/// This thread ends, and has recorded its use.
void note_end();

struct Use {
  uint64_t on_core_ns = 0;
  uint64_t without_ns = 0;  ///< it could run, and had no core
};

/// The use of this thread. False if the system does not provide it.
bool own_use(Use& use);

struct Look {
  Use use;               ///< the use of all threads that have not recorded it themselves
  unsigned threads = 0;  ///< live threads
  bool known = false;
};

/// Looks at all threads; those that have used more since they were last recorded are recorded in
/// `log`, if there is one. `cores` collects the cores on which they may run.
Look look(ThreadLog* log, uint64_t (&cores)[trace::kRawCoreWords]);

/// In a forked child: the parent's other threads do not exist here.
void forget();

}  // namespace culprit::collector::tasks
