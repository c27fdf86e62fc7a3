// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A fixed store of entries and slots, chained by hash, newest first. When full it forgets
// everything and starts again: a program with that many live paths misses often whatever is done.
#include "collector/callpath/path_memo.h"

#include <cstring>

#include "collector/system_file.h"

namespace culprit::collector {

namespace {

#if defined(__x86_64__)
constexpr bool kReturnAddressesAreOnTheStack = true;
#else
constexpr bool kReturnAddressesAreOnTheStack = false;
#endif

constexpr unsigned kBuckets = 4096;
constexpr unsigned kMaxEntries = 16384;
constexpr unsigned kMaxSlots = 1u << 18;
/// Callers that reach the same place at the same stack depth along different ways; beyond these an
/// unwinding is cheaper than more comparing.
constexpr unsigned kMaxWays = 16;

struct Slot {
  const uintptr_t* at;
  uintptr_t value;
};

unsigned bucket_of(uintptr_t cfa, uintptr_t return_address) {
  const uint64_t h = (return_address ^ (cfa << 20)) * 0x9e3779b97f4a7c15u;
  return static_cast<unsigned>(h >> 52);
}
static_assert(kBuckets == 1u << 12, "bucket_of takes the top 12 bits");

bool holds(const Slot* slots, unsigned count) {
  for (unsigned i = 0; i < count; ++i) {
    if (*slots[i].at != slots[i].value) return false;
  }
  return true;
}

}  // namespace

struct PathMemo::Entry {
  uintptr_t cfa;
  uintptr_t return_address;
  uint32_t path;
  uint32_t first_slot;
  uint32_t slots;
  uint32_t next;  ///< entry number + 1; 0: none
};

struct PathMemo::Store {
  uint32_t heads[kBuckets];  ///< entry number + 1; 0: none
  uint32_t entry_count;
  uint32_t slot_count;
  Entry entries[kMaxEntries];
  Slot slots[kMaxSlots];
};

uint32_t PathMemo::find(uintptr_t cfa, uintptr_t return_address) const {
  if (store_ == nullptr) return 0;
  uint32_t number = store_->heads[bucket_of(cfa, return_address)];
  for (unsigned way = 0; number != 0 && way < kMaxWays; ++way) {
    const Entry& entry = store_->entries[number - 1];
    if (entry.cfa == cfa && entry.return_address == return_address &&
        holds(store_->slots + entry.first_slot, entry.slots)) {
      return entry.path;
    }
    number = entry.next;
  }
  return 0;
}

bool PathMemo::reserve(unsigned frames) {
  if (store_ == nullptr) store_ = static_cast<Store*>(map_memory(sizeof(Store)));
  if (store_ == nullptr) return false;
  if (store_->entry_count == kMaxEntries || store_->slot_count + frames > kMaxSlots) {
    memset(store_->heads, 0, sizeof store_->heads);
    store_->entry_count = 0;
    store_->slot_count = 0;
  }
  return true;
}

void PathMemo::add(const Frames& frames, uint32_t path) {
  if (!kReturnAddressesAreOnTheStack || frames.count == 0 || path == 0) return;
  if (!reserve(frames.count)) return;
  Slot* slots = store_->slots + store_->slot_count;
  for (unsigned i = 0; i < frames.count; ++i) {
    const Frame& frame = frames.at[i];
    slots[i] = {reinterpret_cast<const uintptr_t*>(frame.cfa) - 1, frame.address};
    if (*slots[i].at != slots[i].value) return;
  }
  // The first slot is the key itself and need not be compared.
  uint32_t& head = store_->heads[bucket_of(frames.at[0].cfa, frames.at[0].address)];
  store_->entries[store_->entry_count] = {frames.at[0].cfa,       frames.at[0].address, path,
                                          store_->slot_count + 1, frames.count - 1,     head};
  head = ++store_->entry_count;
  store_->slot_count += frames.count;
}

void PathMemo::release() {
  unmap_memory(store_, sizeof(Store));
  store_ = nullptr;
}

}  // namespace culprit::collector
