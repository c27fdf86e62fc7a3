// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/fuzz/archive_pack.h"

#include <algorithm>
#include <fstream>
#include <iterator>

namespace culprit::fuzz {

namespace fs = std::filesystem;

std::string file_name(uint8_t number) {
  // Two processes of two threads, as culprit and Score-P number their locations.
  static constexpr const char* kNames[kFileCount] = {
      "traces.otf2",           "traces.def",
      "traces/0.def",          "traces/0.evt",
      "traces/1.def",          "traces/1.evt",
      "traces/4294967296.def", "traces/4294967296.evt",
      "traces/4294967297.def", "traces/4294967297.evt"};
  return kNames[number % kFileCount];
}

Archive unpack(std::span<const uint8_t> bytes) {
  constexpr size_t kHead = 5;
  Archive archive;
  while (bytes.size() >= kHead) {
    const auto number = static_cast<uint8_t>(bytes[0] % kFileCount);
    size_t length = 0;
    for (size_t i = 0; i < 4; ++i) length |= size_t{bytes[1 + i]} << (8 * i);
    bytes = bytes.subspan(kHead);
    length = std::min(length, bytes.size());
    archive[number].assign(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(length));
    bytes = bytes.subspan(length);
  }
  return archive;
}

std::string pack(const Archive& archive) {
  std::string bytes;
  for (const auto& [number, content] : archive) {
    bytes.push_back(static_cast<char>(number));
    for (size_t i = 0; i < 4; ++i) bytes.push_back(static_cast<char>(content.size() >> (8 * i)));
    bytes += content;
  }
  return bytes;
}

void write_files(const Archive& archive, const fs::path& folder) {
  fs::create_directories(folder / "traces");
  for (uint8_t number = 0; number < kFileCount; ++number) {
    const fs::path path = folder / file_name(number);
    const auto file = archive.find(number);
    if (file == archive.end()) {
      fs::remove(path);
    } else {
      std::ofstream(path, std::ios::binary) << file->second;
    }
  }
}

Archive read_files(const fs::path& folder) {
  Archive archive;
  for (uint8_t number = 0; number < kFileCount; ++number) {
    std::ifstream in(folder / file_name(number), std::ios::binary);
    if (in) archive[number].assign(std::istreambuf_iterator<char>(in), {});
  }
  return archive;
}

}  // namespace culprit::fuzz
