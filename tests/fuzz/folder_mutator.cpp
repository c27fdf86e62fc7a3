// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// How inputs of folder_fuzzer.cpp are changed: one entry at a time, in what it is or what it holds.
// Of records, packed or in bursts as well, most of the time the checksums are made right again, so
// that what they say is looked at.
#include <algorithm>
#include <cstring>
#include <iterator>
#include <random>
#include <span>
#include <string>
#include <utility>

#include "tests/fuzz/folder_pack.h"
#include "tests/unit/assemble/raw_builder.h"
#include "trace/raw/bursts.h"
#include "trace/raw/packed.h"
#include "trace/raw/seal.h"

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

namespace {

using namespace culprit;
using fuzz::EntryKind;

constexpr size_t kHeadRoom = 64;

/// Makes the checksums of a process's record right.
void seal_process(std::string& content) {
  trace::RawProcessFile file;
  if (content.size() < sizeof file) return;
  std::memcpy(&file, content.data(), sizeof file);
  for (trace::RawSnapshot& snapshot : file.snapshots) {
    if (snapshot.number == 0) continue;
    snapshot.process.magic = trace::kRawMagic;
    snapshot.process.version = trace::kRawVersion;
    snapshot.process.last_sum = trace::raw_sum_of_all(snapshot.process.last);
    snapshot.sum = trace::sum_of_snapshot(snapshot);
  }
  std::memcpy(content.data(), &file, sizeof file);
}

/// Ends a log as its thread would have.
void seal_events(std::string& content, const std::string& process, uint32_t thread) {
  trace::RawProcess record;
  if (content.size() < trace::kRawSealBytes || process.size() < sizeof record) return;
  std::memcpy(&record, process.data(), sizeof record);
  content.resize((content.size() - trace::kRawSealBytes) / 8 * 8);
  content = assemble::test::sealed(content, record.start_ticks, thread);
}

/// The content of a block or extent, `bytes` from `at` on, in whole words: as much as there is.
std::span<const char> words_behind(const std::string& content, size_t at, size_t bytes) {
  const size_t there = content.size() - std::min(at, content.size());
  return {content.data() + content.size() - there, std::min(bytes, there) / 8 * 8};
}

uint64_t sum_of(std::span<const char> words) {
  return trace::raw_sum(words.data(), words.size() / 8);
}

/// Of packed windows.
void seal_blocks(std::string& content, const std::string& process) {
  trace::RawProcess record;
  if (process.size() < sizeof record) return;
  std::memcpy(&record, process.data(), sizeof record);
  const uint64_t seed = trace::raw_block_seed(record.start_ticks, 0);
  trace::RawBlock block;
  for (size_t at = 0; at + sizeof block <= content.size();) {
    std::memcpy(&block, content.data() + at, sizeof block);
    const size_t bytes = trace::raw_whole_words(block.packed);
    block.magic = trace::kRawBlockMagic;
    block.content = sum_of(words_behind(content, at + sizeof block, bytes));
    block.sum = trace::sum_of_block(block, seed);
    std::memcpy(content.data() + at, &block, sizeof block);
    at += sizeof block + bytes;
  }
}

/// Of bursts, and of definitions.
void seal_extents(std::string& content) {
  trace::RawExtent extent;
  for (size_t at = 0; at + sizeof extent <= content.size();) {
    std::memcpy(&extent, content.data() + at, sizeof extent);
    const size_t bytes = size_t{extent.preamble} + extent.bytes;
    extent.magic = trace::kRawExtentMagic;
    extent.version = trace::kRawVersion;
    extent.content = sum_of(words_behind(content, at + sizeof extent, bytes));
    extent.sum = trace::sum_of_extent(extent);
    std::memcpy(content.data() + at, &extent, sizeof extent);
    at += trace::raw_extent_bytes(bytes);
  }
}

void make_sums_right(fuzz::Folder& folder, uint8_t place) {
  const std::string name = fuzz::place_name(place);
  std::string& content = folder[place].content;
  if (name.ends_with("/process")) return seal_process(content);
  if (name.ends_with("/burst") || name.ends_with("/defines.0")) return seal_extents(content);
  const bool is_packed = name.ends_with(trace::kRawPackedSuffix);
  if (!is_packed && !name.ends_with("/events.0") && !name.ends_with("/events.1")) return;
  for (const auto& [other, entry] : folder) {
    const std::string process = fuzz::place_name(other);
    if (process != name.substr(0, name.rfind('/')) + "/process") continue;
    if (is_packed) return seal_blocks(content, entry.content);
    return seal_events(content, entry.content, name.back() == '0' ? 0 : 1);
  }
}

void change_content(std::string& content, size_t room) {
  const size_t old = content.size();
  content.resize(old + std::min(room, kHeadRoom));
  if (content.empty()) return;
  auto* bytes = reinterpret_cast<uint8_t*>(content.data());
  content.resize(LLVMFuzzerMutate(bytes, old, content.size()));
}

}  // namespace

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                          unsigned seed) {
  std::mt19937 random(seed);
  fuzz::Folder folder = fuzz::unpack_folder({data, size});
  if (folder.empty()) return LLVMFuzzerMutate(data, size, max_size);
  const auto some_place = [&] {
    return std::next(folder.begin(), static_cast<long>(random() % folder.size()))->first;
  };
  const uint8_t place = some_place();
  fuzz::Entry& entry = folder[place];
  switch (random() % 16) {
    case 0:
      folder.erase(place);
      break;
    case 1:
      entry.kind = static_cast<EntryKind>(random() % static_cast<unsigned>(EntryKind::count));
      break;
    case 2:
      folder[static_cast<uint8_t>(random() % fuzz::kPlaces)].kind =
          static_cast<EntryKind>(random() % static_cast<unsigned>(EntryKind::count));
      break;
    case 3:
      std::swap(entry, folder[some_place()]);
      break;
    case 4:
      entry.content.resize(entry.content.empty() ? 0 : random() % entry.content.size());
      break;
    default:
      change_content(entry.content, max_size > size ? max_size - size : 0);
      if (random() % 4 != 0) make_sums_right(folder, place);
  }
  const std::string packed = fuzz::pack_folder(folder);
  if (packed.size() > max_size) return size;
  std::memcpy(data, packed.data(), packed.size());
  return packed.size();
}
