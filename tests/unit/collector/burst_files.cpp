// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "burst_files.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace culprit::tests {

using trace::RawExtent;
using trace::RawHeader;

namespace {

namespace fs = std::filesystem;

std::vector<char> read_bytes(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) throw std::runtime_error("cannot read " + file.string());
  return {std::istreambuf_iterator<char>(in), {}};
}

void check(bool good, const fs::path& file, const std::string& what) {
  if (!good) throw std::runtime_error(file.string() + ": " + what);
}

std::vector<RawRecord> records_in(const char* at, size_t bytes, const fs::path& file) {
  std::vector<RawRecord> records;
  for (size_t done = 0; done < bytes;) {
    RawRecord record;
    check(done + sizeof record.header <= bytes, file, "half a record");
    memcpy(&record.header, at + done, sizeof record.header);
    const size_t words = record.header.words * sizeof(uint64_t);
    check(record.kind() != trace::RawKind::none, file, "no record");
    done += sizeof record.header;
    check(done + words <= bytes, file, "half a record");
    record.words.resize(record.header.words);
    if (words > 0) memcpy(record.words.data(), at + done, words);
    done += words;
    records.push_back(std::move(record));
  }
  return records;
}

Extent read_extent(const std::vector<char>& bytes, size_t at, const fs::path& file) {
  Extent extent;
  check(at + sizeof extent.header <= bytes.size(), file, "half a header");
  memcpy(&extent.header, bytes.data() + at, sizeof extent.header);
  const RawExtent& header = extent.header;
  check(header.magic == trace::kRawExtentMagic, file, "no extent at " + std::to_string(at));
  check(header.sum == trace::sum_of_extent(header), file, "checksum of a header");
  const size_t content = size_t{header.preamble} + header.bytes;
  check(at + sizeof header + content <= bytes.size(), file, "half an extent");
  const char* const records = bytes.data() + at + sizeof header;
  std::vector<uint64_t> words(content / sizeof(uint64_t));
  memcpy(words.data(), records, content);
  check(header.content == trace::raw_sum(words.data(), words.size()), file, "checksum");
  extent.preamble = records_in(records, header.preamble, file);
  extent.records = records_in(records + header.preamble, header.bytes, file);
  return extent;
}

std::vector<Extent> read_extents(const fs::path& file, bool killed) {
  const std::vector<char> bytes = read_bytes(file);
  std::vector<Extent> extents;
  for (size_t at = 0; at < bytes.size();) {
    try {
      extents.push_back(read_extent(bytes, at, file));
    } catch (const std::runtime_error&) {
      if (killed) break;
      throw;
    }
    const RawExtent& header = extents.back().header;
    at += trace::raw_extent_bytes(size_t{header.preamble} + header.bytes);
  }
  return extents;
}

BurstOfNode read_burst(const fs::path& file, const trace::RawBurst& entry, bool killed) {
  BurstOfNode burst = {entry, {}};
  check(entry.lost != 0 || fs::file_size(file) <= entry.bytes, file, "larger than taken");
  for (const Extent& extent : read_extents(file, killed)) {
    const RawExtent& header = extent.header;
    check(header.slot == entry.slot - 1, file, "another slot");
    auto [place, is_new] = burst.logs.try_emplace({header.pid, header.log});
    LogOfBurst& log = place->second;
    check(is_new || header.from == log.until, file, "something is left out");
    if (is_new) log.from = header.from;
    log.until = header.until;
    check(log.from >= entry.begin && log.until <= entry.end, file, "not of this burst");
    log.preamble.insert(log.preamble.end(), extent.preamble.begin(), extent.preamble.end());
    for (const RawRecord& record : extent.records) {
      check(record.header.time >= entry.begin && record.header.time < entry.end, file, "time");
      log.records.push_back(record);
    }
  }
  return burst;
}

}  // namespace

NodeFiles read_node(const fs::path& experiment, bool killed) {
  NodeFiles node = {};
  std::vector<fs::path> folders;
  for (const auto& entry : fs::directory_iterator(experiment / "raw" / trace::kRawBurstsFolder)) {
    folders.push_back(entry.path());
  }
  check(folders.size() == 1, experiment, "nodes");
  const std::vector<char> page = read_bytes(folders[0] / trace::kRawPageFile);
  check(page.size() == sizeof node.page, folders[0], "size of the page");
  memcpy(&node.page, page.data(), sizeof node.page);
  check(node.page.magic == trace::kRawPageMagic, folders[0], "magic");
  size_t files = 1;
  for (const trace::RawBurst& entry : node.page.bursts) {
    const fs::path file = folders[0] / std::to_string(entry.slot - 1);
    if (entry.slot == 0 || !fs::exists(file)) continue;
    ++files;
    node.bursts.push_back(read_burst(file, entry, killed));
  }
  check(std::distance(fs::directory_iterator(folders[0]), {}) == static_cast<long>(files),
        folders[0], "files without an entry");
  std::sort(node.bursts.begin(), node.bursts.end(),
            [](const auto& a, const auto& b) { return a.entry.slot < b.entry.slot; });
  return node;
}

std::vector<RawRecord> read_definitions(const fs::path& folder, unsigned log) {
  std::vector<RawRecord> records;
  const fs::path file = folder / ("defines." + std::to_string(log));
  if (!fs::exists(file)) return records;
  for (const Extent& extent : read_extents(file, false)) {
    check(extent.header.slot == trace::kRawNoSlot, file, "no definitions");
    records.insert(records.end(), extent.records.begin(), extent.records.end());
  }
  return records;
}

uint64_t bytes_of_records(const fs::path& experiment) {
  uint64_t bytes = 0;
  for (const auto& entry : fs::recursive_directory_iterator(experiment / "raw")) {
    const std::string name = entry.path().filename();
    const bool holds =
        name.starts_with("events.") || name.starts_with("defines.") ||
        std::all_of(name.begin(), name.end(), [](char c) { return c >= '0' && c <= '9'; });
    if (entry.is_regular_file() && holds && entry.path().extension() != ".tail")
      bytes += entry.file_size();
  }
  return bytes;
}

}  // namespace culprit::tests
