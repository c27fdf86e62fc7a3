// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// How the process gets its memory.
#pragma once

#include <malloc.h>

namespace culprit {

/// Large columns come and go while a trace is analysed. Left to itself, malloc takes ever larger
/// ones from its heap once such have been freed: there they leave holes, and grow by copying. On
/// pages of their own they grow by moving these, and what is freed is free.
inline void return_large_blocks_to_the_system() {
  mallopt(M_MMAP_THRESHOLD, 64 << 10);
}

}  // namespace culprit
