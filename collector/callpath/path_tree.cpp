// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Linear probing, by a hash of both keys; entries are only removed all at once. Memory comes from
// mmap, since the interrupted code may be the program's allocator.
#include "collector/callpath/path_tree.h"

#include <cstring>

#include "collector/process/budget.h"
#include "collector/process/process_record.h"
#include "collector/process/system_file.h"

namespace culprit::collector {

namespace {

constexpr size_t kFirstCapacity = 1024;
constexpr size_t kMaxCapacity = size_t{1} << 22;

size_t hash(uint32_t parent, uintptr_t address) {
  uint64_t h = (address ^ (uint64_t{parent} << 40) ^ parent) * 0x9e3779b97f4a7c15u;
  return static_cast<size_t>(h ^ (h >> 29));
}

}  // namespace

size_t PathTree::place(const Entry* entries, size_t mask, uint32_t parent, uintptr_t address) {
  size_t at = hash(parent, address) & mask;
  while (entries[at].id != 0 && (entries[at].address != address || entries[at].parent != parent)) {
    at = (at + 1) & mask;
  }
  return at;
}

bool PathTree::grow() {
  const size_t capacity = capacity_ == 0 ? kFirstCapacity : capacity_ * 2;
  if (capacity > kMaxCapacity) return false;
  const size_t bytes = capacity * sizeof(Entry);
  if (capacity_ == 0) {
    budget::take_first_for_paths(bytes);
  } else if (!budget::take_for_paths(bytes)) {
    return false;
  }
  auto* entries = static_cast<Entry*>(map_memory(bytes));
  if (entries == nullptr) {
    budget::give_back_for_paths(bytes);
    return false;
  }
  for (size_t i = 0; i < capacity_; ++i) {
    const Entry& old = entries_[i];
    if (old.id != 0) entries[place(entries, capacity - 1, old.parent, old.address)] = old;
  }
  release();
  entries_ = entries;
  capacity_ = capacity;
  return true;
}

PathTree::Node PathTree::child(uint32_t parent, uintptr_t address) {
  if (capacity_ == 0 && !grow()) return {0, false};
  size_t at = place(entries_, capacity_ - 1, parent, address);
  if (entries_[at].id != 0) return {entries_[at].id, false};
  if (used_ + 1 > capacity_ / 4 * 3) {
    if (!grow()) forget();
    at = place(entries_, capacity_ - 1, parent, address);
  }
  entries_[at] = {address, parent, ++count_};
  ++used_;
  return {count_, true};
}

void PathTree::forget() {
  memset(static_cast<void*>(entries_), 0, capacity_ * sizeof(Entry));
  used_ = 0;
  tally(&trace::RawProcess::forgotten_paths);
}

void PathTree::release() {
  unmap_memory(entries_, capacity_ * sizeof(Entry));
  budget::give_back_for_paths(capacity_ * sizeof(Entry));
  entries_ = nullptr;
  capacity_ = 0;
}

}  // namespace culprit::collector
