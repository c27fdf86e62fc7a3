// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// An OTF2 archive as one string of bytes, for a fuzzer to change: its files one after the other,
// each with its number (8 bits), its length (32 bits, little-endian) and its bytes. Which number is
// which file is fixed, so that what a fuzzer does to the string cannot name files elsewhere.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>

namespace culprit::fuzz {

/// Content by number.
using Archive = std::map<uint8_t, std::string>;

/// "traces.otf2", "traces/0.evt"; numbers wrap around.
std::string file_name(uint8_t number);
/// The anchor is number 0.
inline constexpr uint8_t kAnchor = 0;
inline constexpr uint8_t kFileCount = 10;

/// Never fails: what does not fit ends the last file.
Archive unpack(std::span<const uint8_t> bytes);
std::string pack(const Archive& archive);

/// Replaces what is in `folder`.
void write_files(const Archive& archive, const std::filesystem::path& folder);
Archive read_files(const std::filesystem::path& folder);

}  // namespace culprit::fuzz
