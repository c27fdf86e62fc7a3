// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// How much memory there is for this process.
#pragma once

#include <cstdint>
#include <filesystem>

namespace culprit {

/// Bytes that this process can still take before it is killed or refused: what the machine has
/// free, what batch systems leave it (control groups, versions 1 and 2), and its own limit of
/// addresses. UINT64_MAX if nothing says. `root` is where /proc and /sys are looked for.
uint64_t available_memory(const std::filesystem::path& root = "/");

/// Gives back to the system what malloc keeps of freed blocks. For after a pass that took and freed
/// many: reading leaves OTF2's buffers, up to 6 bytes an event that stay free until the end.
void give_back_free_memory();

}  // namespace culprit
