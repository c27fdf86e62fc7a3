// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Runs code that may touch memory which is not there. Unwinding from an arbitrary instruction is
// such code: tables are right at calls, but in a few places (an epilogue, a hand-written routine,
// the end of a thrown exception) not in between, and the unwinder then follows a wrong address. The
// program's own handlers for such faults are put aside, not away: faults that are not ours go to
// them.
#pragma once

#include <signal.h>

namespace culprit::collector {

/// Before the first: what is looked up here takes the loader's lock, and a handler may have
/// interrupted who has it.
void find_guard_calls();

/// Calls `body(argument)`, from within a signal handler. False if it faulted; it must hold nothing
/// that would have to be released.
bool run_guarded(void (*body)(void*), void* argument);

/// In a forked child: of guards that other threads were in, nothing is left.
void forget_guards();

/// Whether our handler may stand in the place of the program's just now.
bool is_guarded(int signal);
/// As sigaction(), for a signal that is guarded: what the program finds is its own.
int set_guarded_action(int signal, const struct sigaction* action, struct sigaction* previous);

}  // namespace culprit::collector
