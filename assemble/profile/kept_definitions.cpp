// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// An extent counts if both of its checksums agree. Where there is none, the next place is tried.
#include "assemble/profile/kept_definitions.h"

#include <fmt/format.h>

#include <cstring>
#include <string>

#include "trace/raw/bursts.h"

namespace culprit::assemble {

namespace {

using trace::RawExtent;
using trace::RawHeader;

/// No log has more definitions.
constexpr uint64_t kLargest = uint64_t{256} << 20;
constexpr size_t kWord = sizeof(uint64_t);

/// Appends the records of `content`, as far as they are whole.
void append_records(const std::vector<uint64_t>& content, std::vector<uint64_t>& to) {
  for (size_t at = 0; at + sizeof(RawHeader) / kWord <= content.size();) {
    RawHeader header;
    std::memcpy(&header, content.data() + at, sizeof header);
    const size_t words = sizeof header / kWord + header.words;
    if (header.kind == trace::RawKind::none || words > content.size() - at) return;
    const auto begin = content.begin() + static_cast<std::ptrdiff_t>(at);
    to.insert(to.end(), begin, begin + static_cast<std::ptrdiff_t>(words));
    at += words;
  }
}

/// Reads an extent of this log; returns the bytes that it takes, 0 if there is none.
size_t read_extent(const std::string& file, size_t at, uint32_t log, uint64_t start_ticks,
                   std::vector<uint64_t>& records) {
  RawExtent extent;
  std::memcpy(&extent, file.data() + at, sizeof extent);
  const bool is_ours = extent.magic == trace::kRawExtentMagic &&
                       extent.sum == trace::sum_of_extent(extent) && extent.log == log &&
                       extent.start_ticks == start_ticks;
  const uint64_t bytes = uint64_t{extent.preamble} + extent.bytes;
  if (!is_ours || bytes % kWord != 0 || bytes > file.size() - at - sizeof extent) return 0;
  std::vector<uint64_t> content(bytes / kWord);
  std::memcpy(content.data(), file.data() + at + sizeof extent, bytes);
  if (trace::raw_sum(content.data(), content.size()) != extent.content) return 0;
  append_records(content, records);
  return trace::raw_extent_bytes(bytes);
}

}  // namespace

std::vector<uint64_t> read_definitions(const GuardedPath& folder, uint32_t log,
                                       uint64_t start_ticks) {
  std::vector<uint64_t> records;
  const auto file = (folder / fmt::format("defines.{}", log)).read(kLargest);
  for (size_t at = 0; file && at + sizeof(RawExtent) <= file->size();) {
    const size_t taken = read_extent(*file, at, log, start_ticks, records);
    at += taken > 0 ? taken : trace::kRawExtentAlign;
  }
  return records;
}

}  // namespace culprit::assemble
