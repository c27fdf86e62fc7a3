// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The stack of another thread of this process, which sleeps in a system call. The system tells
// where its stack ends and which instruction it is at; from there on the tables for exceptions lead
// upwards (DWARF's call frame information, as gcc and clang write it). Memory is read by a system
// call that fails where there is none: the thread may wake meanwhile, and libraries go. Whoever
// asks makes sure afterwards that the thread has not moved. Other processors than x86-64: no
// frames. MT: one thread at a time.
#pragma once

#include "collector/callpath/frames.h"

namespace culprit::collector {

/// Fills `frames`, innermost first, as long as `goes_on` says so of each one's address. True if the
/// outermost was reached.
bool unwind_sleeper(uintptr_t pc, uintptr_t sp, Frames& frames, bool (*goes_on)(uintptr_t address));

}  // namespace culprit::collector
