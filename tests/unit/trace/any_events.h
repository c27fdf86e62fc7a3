// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Archives with events of every kind that OTF2 has, with any values and attributes, and with local
// definitions of any kind: what readers of records are compared on.
#pragma once

#include <cstdint>
#include <filesystem>
#include <random>
#include <string>

namespace culprit::trace {

using Random = std::mt19937_64;

/// How events of a location refer to what the archive defines: by its numbers, or by ones of their
/// own, which the location's definitions explain, be it among others that say nothing about events.
enum class References { global, local, among_others };

/// The archive of write_rich_archive(), but for the events of its first location: at least
/// `records` of all kinds, in several chunks if they are many.
std::filesystem::path write_any_events(const std::filesystem::path& folder, size_t records,
                                       References references, Random& random);

/// The bytes of a file of events, or of local definitions, as a machine of the other byte order
/// would have written them. Chunks are as large as in archives of write_any_events().
std::string swapped_events(std::string file);
std::string swapped_definitions(std::string file);

}  // namespace culprit::trace
