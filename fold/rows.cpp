// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The index is probed linearly: eight entries share a cache line. The root is in no slot, since 0
// marks those that are free.
#include "fold/rows.h"

#include <atomic>
#include <cstring>

namespace culprit::fold {

uint32_t Rows::first_slot(const RowKey& key) const {
  constexpr uint64_t kMix = 0x9e3779b97f4a7c15u;
  constexpr unsigned kKindShift = 56, kDetailShift = 32, kHalf = 32;
  const uint64_t identity = uint64_t{key.parent} ^ uint64_t { key.detail } << kDetailShift ^
                            static_cast<uint64_t>(key.kind) << kKindShift;
  uint64_t mixed = (key.place ^ key.place >> kHalf) * kMix + identity;
  mixed *= kMix;
  return static_cast<uint32_t>(mixed >> kHalf) & (slots_ - 1);
}

uint32_t Rows::of(const RowKey& key, uint32_t limit) const {
  uint32_t slot = first_slot(key);
  for (uint32_t row = index_[slot]; row != 0; row = index_[slot]) {
    if (key_of(rows_[row]) == key) return row;
    slot = (slot + 1) & (slots_ - 1);
  }
  const uint32_t row = log_->row_count;
  if (row >= limit) return kRoot;
  rows_[row] = {};
  rows_[row].place = key.place;
  rows_[row].parent = key.parent;
  rows_[row].detail = key.detail;
  rows_[row].kind = key.kind;
  index_[slot] = row;
  std::atomic_ref<uint32_t>(log_->row_count).store(row + 1, std::memory_order_release);
  return row;
}

void Rows::index_all() const {
  std::memset(index_, 0, size_t{slots_} * sizeof(uint32_t));
  for (uint32_t row = 1; row < log_->row_count; ++row) {
    uint32_t slot = first_slot(key_of(rows_[row]));
    while (index_[slot] != 0) slot = (slot + 1) & (slots_ - 1);
    index_[slot] = row;
  }
}

}  // namespace culprit::fold
