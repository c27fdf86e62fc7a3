// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// An extent is sound if its own checksum and that of its content agree. Between extents there may
// be holes, left by processes that were killed while they wrote.
#include "assemble/bursts/burst_files.h"

#include <cstring>
#include <optional>
#include <string_view>

namespace culprit::assemble {
namespace {

using trace::RawExtent;
using trace::RawNodePage;

/// More than a burst's file can have, whatever the budget.
constexpr uint64_t kLargestBurst = uint64_t{1} << 36;

bool is_page(const RawNodePage& page) {
  return page.magic == trace::kRawPageMagic && page.version == trace::kRawVersion &&
         page.schedule.slot_ns > page.schedule.burst_ns;
}

std::vector<uint64_t> words_at(std::string_view file, size_t at, size_t bytes) {
  std::vector<uint64_t> words(bytes / sizeof(uint64_t));
  std::memcpy(words.data(), file.data() + at, words.size() * sizeof(uint64_t));
  return words;
}

std::optional<ReadExtent> extent_at(std::string_view file, size_t at) {
  ReadExtent found;
  RawExtent& header = found.header;
  std::memcpy(&header, file.data() + at, sizeof header);
  const bool is_ours =
      header.magic == trace::kRawExtentMagic && header.version == trace::kRawVersion &&
      header.sum == trace::sum_of_extent(header) && header.preamble % sizeof(uint64_t) == 0 &&
      header.bytes % sizeof(uint64_t) == 0;
  const uint64_t content = uint64_t{header.preamble} + header.bytes;
  if (!is_ours || content > file.size() - at - sizeof header) return std::nullopt;
  const std::vector<uint64_t> all = words_at(file, at + sizeof header, content);
  if (trace::raw_sum(all.data(), all.size()) != header.content) return std::nullopt;
  const auto middle = all.begin() + static_cast<ptrdiff_t>(header.preamble / sizeof(uint64_t));
  found.preamble.assign(all.begin(), middle);
  found.records.assign(middle, all.end());
  return found;
}

}  // namespace

std::vector<NodeBursts> read_pages(const GuardedPath& raw) {
  std::vector<NodeBursts> nodes;
  const GuardedPath bursts = raw / trace::kRawBurstsFolder;
  for (const std::string& name : bursts.list()) {
    NodeBursts node;
    node.node = name;
    const auto file = (bursts / name / trace::kRawPageFile).open();
    const bool whole = file && file->read_at(0, &node.page, sizeof node.page) == sizeof node.page;
    if (whole && is_page(node.page)) nodes.push_back(std::move(node));
  }
  return nodes;
}

std::vector<ReadExtent> read_extents(const GuardedPath& file, uint64_t& holes) {
  std::vector<ReadExtent> extents;
  const std::string content = file.read(kLargestBurst).value_or("");
  bool in_hole = false;
  for (size_t at = 0; at + sizeof(RawExtent) <= content.size();) {
    auto extent = extent_at(content, at);
    if (!extent) {
      holes += in_hole ? 0 : 1;
      in_hole = true;
      at += trace::kRawExtentAlign;
      continue;
    }
    in_hole = false;
    at += trace::raw_extent_bytes(uint64_t{extent->header.preamble} + extent->header.bytes);
    extents.push_back(std::move(*extent));
  }
  return extents;
}

}  // namespace culprit::assemble
