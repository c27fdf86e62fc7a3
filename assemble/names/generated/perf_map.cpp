// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Linux's perf expects such files from programs that generate code.
#include <algorithm>
#include <charconv>

#include "assemble/names/generated/generated_code.h"
#include "base/files/regular_file.h"

namespace culprit::assemble {
namespace {

constexpr uint64_t kLargestMap = uint64_t{256} << 20;
constexpr size_t kLongestName = 1000;

bool take_number(std::string_view& line, uint64_t& value) {
  const auto [rest, error] = std::from_chars(line.data(), line.data() + line.size(), value, 16);
  if (error != std::errc() || rest == line.data() + line.size() || *rest != ' ') return false;
  line.remove_prefix(static_cast<size_t>(rest - line.data()) + 1);
  return true;
}

void add_function(std::string_view line, GeneratedFunctions& functions) {
  if (line.starts_with("0x")) line.remove_prefix(2);
  uint64_t begin = 0, length = 0;
  if (!take_number(line, begin)) return;
  if (line.starts_with("0x")) line.remove_prefix(2);
  if (!take_number(line, length) || line.empty() || length > UINT64_MAX - begin) return;
  functions[begin] = {begin + length, std::string(line.substr(0, kLongestName)), "", {}};
}

}  // namespace

void read_perf_map(const std::string& path, GeneratedFunctions& functions) {
  const std::string text = read_regular_file(path, Owner::self, kLargestMap).value_or("");
  std::string_view rest = text;
  while (!rest.empty()) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    add_function(rest.substr(0, end), functions);
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
}

}  // namespace culprit::assemble
