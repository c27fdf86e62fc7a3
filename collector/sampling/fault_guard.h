// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Runs code that may touch memory which is not there. Unwinding from an arbitrary instruction is
// such code: tables are right at calls, but in a few places (an epilogue, a hand-written routine,
// the end of a thrown exception) not in between, and the unwinder then follows a wrong address. The
// program's own handlers for such faults are put aside, not away: faults that are not ours go to
// them.
#pragma once

namespace culprit::collector::sampling {

/// Calls `body(argument)`, from within a signal handler. False if it faulted; it must hold nothing
/// that would have to be released.
bool run_guarded(void (*body)(void*), void* argument);

}  // namespace culprit::collector::sampling
