// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Code without unwind tables: kernels of linear algebra that are written in assembly, and what
// programs generate while they run. Who calls it is found by looking for the address that it
// returns to: one behind a call that leads here. On x86-64 alone. Async-signal-safe; may touch
// memory that is not there.
#pragma once

#include <cstdint>

#include "collector/callpath/frames.h"

namespace culprit::collector {

/// Appends to `frames`, which hold only the interrupted one, those around it, if they can be found.
/// `is_code` tells addresses of code; `frame_pointer` is what the register held that is often one.
void find_callers(Frames& frames, uintptr_t frame_pointer, bool (*is_code)(uintptr_t address));

/// A complete walk of this thread has ended in code before this address: all must.
void note_outermost(uintptr_t address);

}  // namespace culprit::collector
