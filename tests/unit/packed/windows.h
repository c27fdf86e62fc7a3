// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Windows of records for tests of their packing.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "trace/raw/packed.h"

namespace culprit::tests {

std::string record(trace::RawKind kind, uint64_t time, const std::vector<uint64_t>& words = {},
                   uint32_t arg = 0, uint16_t flags = 0);

/// The blocks of a window of log `log` of the process that began at `start`, all of `records`.
std::vector<std::string> blocks_of(const std::string& records, uint64_t window, uint64_t start,
                                   uint32_t log, uint32_t window_bytes);

}  // namespace culprit::tests
