// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// An experiment folder as one string of bytes, for a fuzzer to change: entry after entry, each with
// what it is (8 bits), its place (8 bits), the length of its content (32 bits, little-endian) and
// that. Which number is which place is fixed, so that what a fuzzer does to the string cannot name
// files elsewhere.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>

namespace culprit::fuzz {

enum class EntryKind : uint8_t {
  file,
  sparse,        ///< a file with 20 GiB of nothing behind its content
  link_outside,  ///< to a file that belongs to whoever reads the folder
  link_folder,   ///< to a folder of theirs
  link_inside,   ///< to another place: its content's first byte
  pipe,
  folder,
  count,
};

struct Entry {
  EntryKind kind = EntryKind::file;
  std::string content;
};

/// By place.
using Folder = std::map<uint8_t, Entry>;

inline constexpr uint8_t kPlaces = 30;

/// "raw/node1.1.a/events.0"; numbers wrap around.
std::string place_name(uint8_t place);

/// Never fails: what does not fit ends the last entry.
Folder unpack_folder(std::span<const uint8_t> bytes);
std::string pack_folder(const Folder& folder);

/// Replaces what is at `place`. Links to others lead to `outside`/file and `outside`/folder.
void write_folder(const Folder& folder, const std::filesystem::path& place,
                  const std::filesystem::path& outside);
/// Of an experiment of at most two processes on one node, whatever their folders are called; of its
/// bursts the first.
Folder read_folder(const std::filesystem::path& experiment);

}  // namespace culprit::fuzz
