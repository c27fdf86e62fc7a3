// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Runs code that may touch unmapped memory. Unwinding from an arbitrary instruction is such code:
// tables are right at calls, but in a few places (an epilogue, a hand-written routine, the end of a
// thrown exception) not in between, and the unwinder then follows a wrong address. The program's
// own handlers for such faults are set aside, not lost: faults that are not ours go to them.
#pragma once

#include <signal.h>

namespace culprit::collector {

/// To be called before the first guard: symbols are looked up under the loader's lock, and a
/// handler may have interrupted the thread that holds it.
void find_guard_calls();

/// Calls `body(argument)`, from within a signal handler. False if it faulted; `body` must hold
/// nothing that would have to be released.
bool run_guarded(void (*body)(void*), void* argument);

/// In a forked child: forgets the guards of the parent's other threads.
void forget_guards();

/// Whether our handler may be installed in place of the program's now.
bool is_guarded(int signal);
/// As sigaction(), for a guarded signal: the program finds its own action.
int set_guarded_action(int signal, const struct sigaction* action, struct sigaction* previous);

}  // namespace culprit::collector
