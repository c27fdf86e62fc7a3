// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Where code is generated anew at an address, the later line counts.
#include "assemble/names/perf_map.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <map>

#include "base/files/regular_file.h"
#include "base/fnv.h"

namespace culprit::assemble {
namespace {

constexpr std::string_view kFolder = "/tmp/perf-", kEnding = ".map";
constexpr uint64_t kLargestMap = uint64_t{256} << 20;
constexpr size_t kLongestName = 1000;

struct Piece {
  uint64_t end = 0;
  std::string name;
};

bool take_number(std::string_view& line, uint64_t& value) {
  const auto [rest, error] = std::from_chars(line.data(), line.data() + line.size(), value, 16);
  if (error != std::errc() || rest == line.data() + line.size() || *rest != ' ') return false;
  line.remove_prefix(static_cast<size_t>(rest - line.data()) + 1);
  return true;
}

void add_piece(std::string_view line, std::map<uint64_t, Piece>& pieces) {
  if (line.starts_with("0x")) line.remove_prefix(2);
  uint64_t begin = 0, length = 0;
  if (!take_number(line, begin)) return;
  if (line.starts_with("0x")) line.remove_prefix(2);
  if (!take_number(line, length) || line.empty() || length > UINT64_MAX - begin) return;
  pieces[begin] = {begin + length, std::string(line.substr(0, kLongestName))};
}

std::map<uint64_t, Piece> read_pieces(const std::string& path) {
  std::map<uint64_t, Piece> pieces;
  const std::string text = read_regular_file(path, Owner::self, kLargestMap).value_or("");
  std::string_view rest = text;
  while (!rest.empty()) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    add_piece(rest.substr(0, end), pieces);
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return pieces;
}

/// '/' joins functions to call paths.
SourceFrame frame_of(std::string name) {
  for (char& c : name) {
    if (c == '/') c = '|';
  }
  return {readable_name(name), "", 0};
}

}  // namespace

std::string find_perf_map(uint32_t pid, uint64_t begin_ns) {
  constexpr uint64_t kSecond = 1'000'000'000;
  const std::string path = fmt::format("{}{}{}", kFolder, pid, kEnding);
  struct stat facts;
  const bool there = lstat(path.c_str(), &facts) == 0 && S_ISREG(facts.st_mode);
  return there && static_cast<uint64_t>(facts.st_mtime) >= begin_ns / kSecond ? path : "";
}

bool is_perf_map(std::string_view path) {
  return path.starts_with(kFolder) && path.ends_with(kEnding);
}

void read_perf_map(const std::string& path, std::span<const OpenPlace> places) {
  const std::map<uint64_t, Piece> pieces = read_pieces(path);
  for (const OpenPlace& place : places) {
    Symbol& symbol = *place.symbol;
    symbol.module = base_name(path);
    auto after = pieces.upper_bound(place.offset);
    if (after == pieces.begin() || (--after)->second.end <= place.offset) {
      symbol.frames.push_back({fmt::format("generated code at {:#x}", place.offset), "", 0});
      continue;
    }
    symbol.frames.push_back(frame_of(after->second.name));
    symbol.into_function = place.offset - after->first;
    // Where it lies differs from process to process.
    symbol.address = fnv1a(after->second.name) + symbol.into_function;
    symbol.named = symbol.from_debug_info = true;
  }
}

}  // namespace culprit::assemble
