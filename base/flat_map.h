// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A map from 64-bit numbers to 32-bit ones in one array (open addressing, linear probing), for
// lookups that happen once or twice an event: open requests, partners met, rows by key. Entries may
// be erased; nothing is allocated but the array itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace culprit {

class FlatMap {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;  ///< no value

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

  /// The value of `key`; kNone if there is none.
  uint32_t find(uint64_t key) const {
    if (size_ == 0) return kNone;
    return slots_[slot_of(key)].value;
  }

  /// Sets the value of `key`, which must not be kNone.
  void set(uint64_t key, uint32_t value) { at(key, value) = value; }

  /// The value of `key`, made to be `fresh` if there was none.
  uint32_t& at(uint64_t key, uint32_t fresh) {
    if (2 * (size_ + 1) > slots_.size()) grow();
    Slot& slot = slots_[slot_of(key)];
    if (slot.value == kNone) {
      slot = {key, fresh};
      ++size_;
    }
    return slot.value;
  }

  /// Removes `key`; its value, or kNone.
  uint32_t take(uint64_t key) {
    if (size_ == 0) return kNone;
    size_t hole = slot_of(key);
    const uint32_t value = slots_[hole].value;
    if (value == kNone) return kNone;
    --size_;
    const size_t mask = slots_.size() - 1;
    // An entry that was pushed past the hole moves back into it.
    for (size_t i = (hole + 1) & mask; slots_[i].value != kNone; i = (i + 1) & mask) {
      const size_t home = hash(slots_[i].key) & mask;
      if (((i - home) & mask) < ((i - hole) & mask)) continue;
      slots_[hole] = slots_[i];
      hole = i;
    }
    slots_[hole].value = kNone;
    return value;
  }

  void clear() {
    slots_.clear();  // a map that is reused many times must not pay for its largest use
    size_ = 0;
  }

 private:
  struct Slot {
    uint64_t key = 0;
    uint32_t value = kNone;
  };

  static size_t hash(uint64_t key) {
    key = (key ^ (key >> 32)) * 0x9e3779b97f4a7c15ull;
    return static_cast<size_t>(key ^ (key >> 29));
  }
  size_t slot_of(uint64_t key) const {
    const size_t mask = slots_.size() - 1;
    size_t i = hash(key) & mask;
    while (slots_[i].value != kNone && slots_[i].key != key) i = (i + 1) & mask;
    return i;
  }
  void grow() {
    std::vector<Slot> old(slots_.empty() ? 16 : 2 * slots_.size());
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.value != kNone) slots_[slot_of(slot.key)] = slot;
    }
  }

  std::vector<Slot> slots_;  // a power of two
  size_t size_ = 0;
};

}  // namespace culprit
