// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The layout, the same from OTF2 1.4 to 3.0: a fixed part that begins with the byte order and
// "OTF2"; machine name, creator and description, each ended by a zero; the number of properties (32
// bits); a name and a value for each, ended by zeros; the rest is not needed here.
#include "trace/otf2/anchor.h"

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "base/files/guarded_path.h"

namespace culprit::trace {

namespace {

namespace fs = std::filesystem;

constexpr size_t kByteOrderAt = 1;
constexpr char kLittleEndian = 'B';
constexpr size_t kMagicAt = 2;
constexpr std::string_view kMagic = "OTF2";
constexpr size_t kSubstrateAt = 28;
constexpr size_t kCompressionAt = 29;
constexpr size_t kStringsAt = 46;
constexpr uint64_t kLargest = uint64_t{64} << 20;

/// Walks over the variable part.
class Cursor {
 public:
  Cursor(std::string_view bytes, size_t at) : bytes_(bytes), at_(at) {}

  bool skip_string() {
    const size_t end = bytes_.find('\0', at_);
    if (end == std::string_view::npos) return false;
    at_ = end + 1;
    return true;
  }
  bool read(uint32_t& value, bool little_endian) {
    if (bytes_.size() - at_ < 4) return false;
    value = 0;
    for (size_t i = 0; i < 4; ++i) {
      const size_t place = little_endian ? i : 3 - i;
      value |= uint32_t{static_cast<unsigned char>(bytes_[at_ + i])} << (8 * place);
    }
    at_ += 4;
    return true;
  }

 private:
  std::string_view bytes_;
  size_t at_;
};

bool complete(std::string_view bytes) {
  Cursor cursor(bytes, kStringsAt);
  for (int i = 0; i < 3; ++i) {
    if (!cursor.skip_string()) return false;
  }
  uint32_t properties = 0;
  if (!cursor.read(properties, bytes[kByteOrderAt] == kLittleEndian)) return false;
  for (uint64_t i = 0; i < uint64_t{2} * properties; ++i) {
    if (!cursor.skip_string()) return false;
  }
  return true;
}

}  // namespace

std::string anchor_refusal(const fs::path& anchor) {
  const GuardedPath place = GuardedPath::of_file(anchor);
  if (!place.exists()) return "there is no such file";
  const auto file = place.open();
  if (!file) return place.is_file() ? "it cannot be opened for reading" : "it is not a file";
  if (file->size() == 0) return "the file is empty";
  const std::string bytes = file->read(kLargest).value_or("");
  if (bytes.compare(std::min(kMagicAt, bytes.size()), kMagic.size(), kMagic) != 0) {
    return "it is not an OTF2 anchor file";
  }
  if (bytes.size() < kStringsAt || !complete(bytes)) {
    return "it is an OTF2 anchor file, but damaged or truncated";
  }
  return "";
}

std::string refusal_of_files(const fs::path& anchor) {
  const fs::path folder = anchor.parent_path();
  const GuardedPath around(folder.empty() ? fs::path(".") : folder);
  const std::string stem = anchor.stem().string();
  const auto odd = [](const GuardedPath& file) { return file.exists() && !file.is_file(); };
  const auto refusal = [](const GuardedPath& file) {
    return "'" + file.path().string() + "' is a link, a device or a pipe, and no file";
  };
  for (const char* extension : {".def", ".marker", ".thumb"}) {
    const GuardedPath file = around / (stem + extension);
    if (odd(file)) return refusal(file);
  }
  const GuardedPath locations = around / stem;
  if (!locations.exists()) return "";
  if (!locations.is_folder()) return "'" + locations.path().string() + "' is no folder";
  for (const std::string& name : locations.list()) {
    if (odd(locations / name)) return refusal(locations / name);
  }
  return "";
}

std::string needed_of_library(const fs::path& anchor) {
  constexpr char kSionlib = 2, kZlib = 2;
  char head[kStringsAt] = {};
  const auto file = GuardedPath::of_file(anchor).open();
  if (!file || file->read_at(0, head, sizeof head) < sizeof head) return "";
  if (head[kSubstrateAt] == kSionlib) {
    return "its locations are stored in SIONlib containers, which the OTF2 library here cannot "
           "read";
  }
  if (head[kCompressionAt] == kZlib) {
    return "its files are compressed, which the OTF2 library here cannot read";
  }
  return "";
}

fs::path find_anchor(const fs::path& folder) {
  const GuardedPath place(folder);
  if ((place / "traces.otf2").exists()) return folder / "traces.otf2";
  fs::path found;
  for (const std::string& name : place.list()) {
    if (fs::path(name).extension() != ".otf2") continue;
    if (!found.empty()) return {};
    found = folder / name;
  }
  return found;
}

}  // namespace culprit::trace
