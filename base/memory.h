// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// How the process gets its memory, and how much of it there is.
#pragma once

#include <malloc.h>

#include <cstdint>
#include <filesystem>

namespace culprit {

/// Large columns come and go while a trace is analysed. Left to itself, malloc takes ever larger
/// ones from its heap once such have been freed: there they leave holes, and grow by copying. On
/// pages of their own they grow by moving these, and what is freed is free.
inline void return_large_blocks_to_the_system() {
  mallopt(M_MMAP_THRESHOLD, 64 << 10);
}

/// Bytes that this process can still take before it is killed or refused: what the machine has
/// free, what batch systems leave it (control groups, versions 1 and 2), and its own limit of
/// addresses. UINT64_MAX if nothing says. `root` is where /proc and /sys are looked for.
uint64_t available_memory(const std::filesystem::path& root = "/");

}  // namespace culprit
