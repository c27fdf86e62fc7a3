// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The first rank lists the folder, so that all speak of the same processes though the file system
// may show a new one to some of them earlier.
#include "assemble/ranks/dealt_folders.h"

#include <algorithm>
#include <map>
#include <string>

#include "base/ranks/even_shares.h"
#include "base/ranks/exchange.h"

namespace culprit::assemble {
namespace {

/// Work with a process that does not grow with its records, in bytes of them.
constexpr uint64_t kEach = 64 << 10;

/// Files may be sparse, and say that they are of any size.
constexpr uint64_t kMostOfAFile = uint64_t{1} << 40;

/// The size of a process's files of events.
uint64_t bytes_of(const GuardedPath& folder) {
  uint64_t bytes = kEach;
  for (const std::string& name : folder.list()) {
    const auto file = name.starts_with("events.") ? (folder / name).open() : std::nullopt;
    if (file) bytes += std::min(file->size(), kMostOfAFile);
  }
  return bytes;
}

std::vector<std::string> names_for_all(Transport& ranks, const GuardedPath& raw) {
  Packer own;
  if (ranks.rank() == 0) {
    for (const std::string& name : process_names(raw)) own.put(name);
  }
  const Parcel parcel = share_of_first(ranks, own.take());
  std::vector<std::string> names;
  for (Unpacker unpacker(parcel); !unpacker.done();) names.push_back(unpacker.get_string());
  return names;
}

}  // namespace

DealtFolders deal_folders(Transport& ranks, const GuardedPath& raw, Losses& losses) {
  if (ranks.alone()) {
    DealtFolders all{read_processes(raw, losses), {}};
    all.owners.resize(all.folders.size());
    return all;
  }
  const std::vector<std::string> names = names_for_all(ranks, raw);
  Packer own;
  for (size_t i = ranks.rank(); i < names.size(); i += ranks.size()) {
    const auto folder = read_process_folder(raw, names[i], losses);
    if (!folder) continue;
    own.put(names[i]);
    own.put(folder->process);
    own.put(bytes_of(folder->folder));
  }
  DealtFolders dealt;
  std::map<std::string, uint64_t> bytes;  // by name
  for (const Parcel& parcel : gather_everywhere(ranks, own.take())) {
    for (Unpacker unpacker(parcel); !unpacker.done();) {
      RawProcessFolder& folder = dealt.folders.emplace_back();
      const std::string name = unpacker.get_string();
      folder.folder = raw / name;
      folder.process = unpacker.get<trace::RawProcess>();
      bytes[name] = unpacker.get<uint64_t>();
    }
  }
  sort_by_start(dealt.folders);
  const std::vector<size_t> order = order_of(dealt.folders);
  std::vector<uint64_t> weights;
  for (const size_t i : order) weights.push_back(bytes.at(dealt.folders[i].folder.name()));
  const std::vector<size_t> first = even_shares(weights, ranks.size());
  dealt.owners.resize(dealt.folders.size());
  for (size_t at = 0; at < order.size(); ++at) {
    const auto rank = std::upper_bound(first.begin(), first.end(), at) - first.begin();
    dealt.owners[order[at]] = static_cast<size_t>(rank);
  }
  return dealt;
}

std::vector<ProcessId> first_processes(const Processes& processes,
                                       const std::vector<size_t>& owners, size_t ranks) {
  std::vector<ProcessId> first;
  for (size_t i = 0; i < processes.slots.size(); ++i) {
    const auto folder = processes.slots[i].folder;
    while (folder && first.size() < owners[*folder]) first.emplace_back(i);
  }
  while (first.size() + 1 < ranks) first.emplace_back(processes.slots.size());
  return first;
}

}  // namespace culprit::assemble
