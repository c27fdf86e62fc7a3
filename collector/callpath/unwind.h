// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Takes a stack apart, once per call path that has not been seen: libgcc's unwinder, which finds
// its tables without a lock and so cannot deadlock in a signal handler (glibc 2.35 and later).
#pragma once

#include "collector/callpath/frames.h"

namespace culprit::collector {

/// The frames that called the function whose canonical frame address is `cfa`.
void unwind_above(uintptr_t cfa, Frames& frames);

class LastStack;
/// The same, but stops at the first frame of `known`. Returns the number of known outermost frames.
unsigned unwind_to_known(uintptr_t cfa, Frames& frames, LastStack& known);

/// The first of these frames whose address `accepts` returns true for; 0 if there is none. Needs
/// little stack.
uintptr_t find_caller(uintptr_t cfa, bool (*accepts)(uintptr_t address));

/// Called in a signal handler: the frames that the signal interrupted at `pc`. `is_code` says
/// whether an address is one of code.
void unwind_interrupted(uintptr_t pc, Frames& frames, bool (*is_code)(uintptr_t address));

/// The first unwinding of a process may load libgcc's tables and allocate; do it before any signal.
void warm_up_unwinder();

/// Whether unwinding takes no lock here, so that a signal handler may do it.
bool unwinder_is_signal_safe();

/// Whether it may do so even where the thread is in the unwinder itself, as when it throws: libgcc
/// before GCC 12 keeps a list of what it found last. Not for signal handlers.
bool unwinder_is_reentrant();

}  // namespace culprit::collector
