// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Unwinds code without unwind tables: kernels of linear algebra written in assembly, and code that
// programs generate while they run. The caller is found by searching the stack for a return
// address: an address behind a call that leads to the current function. x86-64 only.
// Async-signal-safe; may touch unmapped memory.
#pragma once

#include <cstdint>

#include "collector/callpath/frames.h"

namespace culprit::collector {

/// Appends the callers to `frames`, which hold only the interrupted frame, if they can be found.
/// `is_code` says whether an address is one of code; `frame_pointer` is the value of the register
/// that often is one.
void find_callers(Frames& frames, uintptr_t frame_pointer, bool (*is_code)(uintptr_t address));

/// A complete walk of this thread has ended in code just before this address: every walk must.
void note_outermost(uintptr_t address);

}  // namespace culprit::collector
