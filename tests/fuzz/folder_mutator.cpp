// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// How inputs of folder_fuzzer.cpp are changed: one entry at a time, in what it is or what it holds.
// Of records, most of the time the checksums are made right again, so that what they say is looked
// at.
#include <algorithm>
#include <cstring>
#include <iterator>
#include <random>
#include <string>
#include <utility>

#include "tests/fuzz/folder_pack.h"
#include "tests/unit/assemble/raw_builder.h"
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

void make_sums_right(fuzz::Folder& folder, uint8_t place) {
  const std::string name = fuzz::place_name(place);
  std::string& content = folder[place].content;
  if (name.ends_with("/process")) return seal_process(content);
  if (!name.ends_with("/events.0") && !name.ends_with("/events.1")) return;
  for (const auto& [other, entry] : folder) {
    const std::string process = fuzz::place_name(other);
    if (process == name.substr(0, name.rfind('/')) + "/process") {
      return seal_events(content, entry.content, name.back() == '0' ? 0 : 1);
    }
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
