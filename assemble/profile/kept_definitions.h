// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The records that the collector keeps for ever of a log whose other records it drops: file
// defines.<n> (trace/raw/bursts.h).
#pragma once

#include <cstdint>
#include <vector>

#include "base/files/guarded_path.h"

namespace culprit::assemble {

/// Whole records, one behind the other; what is damaged is left out. Empty if there is no such
/// file.
std::vector<uint64_t> read_definitions(const GuardedPath& folder, uint32_t log,
                                       uint64_t start_ticks);

}  // namespace culprit::assemble
