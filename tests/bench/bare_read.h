// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What reading costs with OTF2 and nothing else: the yardstick of the analysis.
#pragma once

#include <cstdint>
#include <filesystem>

namespace culprit::bench {

/// Reads all definitions and all events of an archive, location by location on `threads` threads,
/// with callbacks that do nothing for the kinds that culprit uses. Returns the number of events;
/// stops the program if the archive cannot be read.
uint64_t bare_read(const std::filesystem::path& anchor, unsigned threads);

}  // namespace culprit::bench
