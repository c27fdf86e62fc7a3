// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Unwinds the stack of another thread of this process that sleeps in a system call. The system
// gives the end of its stack and its current instruction; from there the tables for exceptions lead
// upwards (DWARF's call frame information, as gcc and clang write it). Memory is read by a system
// call that fails where none is mapped: the thread may wake meanwhile, and libraries may be
// unloaded. The caller must check afterwards that the thread has not moved. Other processors than
// x86-64: no frames. MT: one thread at a time.
#pragma once

#include "collector/callpath/frames.h"

namespace culprit::collector {

/// Fills `frames`, innermost first, as long as `goes_on` returns true for each one's address. True
/// if the outermost frame was reached.
bool unwind_sleeper(uintptr_t pc, uintptr_t sp, Frames& frames, bool (*goes_on)(uintptr_t address));

}  // namespace culprit::collector
