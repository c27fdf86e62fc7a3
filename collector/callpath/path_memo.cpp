// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A store of entries, chained by the hash of slot and address. Its memory is taken a piece at a
// time (budget.h); when there is no more, it forgets everything and starts again in what it has.
// Pages are touched only as entries are made.
#include "collector/callpath/path_memo.h"

#include <cstring>

#include "collector/budget.h"
#include "collector/process_record.h"
#include "collector/system_file.h"

namespace culprit::collector {

namespace {

#if defined(__x86_64__)
constexpr bool kReturnAddressesAreOnTheStack = true;
#else
constexpr bool kReturnAddressesAreOnTheStack = false;
#endif

constexpr unsigned kBucketBits = 14;
constexpr unsigned kMaxEntries = 1u << 18;
constexpr unsigned kPiece = 1u << 12;  ///< entries
/// Callers that reach the same place at the same stack depth along different ways. Most differ in
/// one of the first frames, so looking at one costs little, and an unwinding in a large program
/// some 20 us.
constexpr unsigned kMaxWays = 512;

unsigned bucket_of(uintptr_t cfa, uintptr_t return_address) {
  const uint64_t h = (return_address ^ (cfa << 20)) * 0x9e3779b97f4a7c15u;
  return static_cast<unsigned>(h >> (64 - kBucketBits));
}

/// Of a frame that may have ended long ago: what lies there now is read, whoever's it is.
[[gnu::no_sanitize("address", "thread")]] uintptr_t held_below(uintptr_t cfa) {
  return reinterpret_cast<const uintptr_t*>(cfa)[-1];
}

}  // namespace

struct PathMemo::Entry {
  uintptr_t cfa;
  uintptr_t return_address;
  uint32_t outer;  ///< number of the caller's entry; 0: none, the stack ends here
  uint32_t path;   ///< of the stack that begins here; 0: only ever seen further out
  uint32_t next;   ///< in the bucket
};

struct PathMemo::Store {
  uint32_t heads[1u << kBucketBits];  ///< entry numbers count from 1; 0: none
  uint32_t count;
  uint32_t capacity;  ///< entries that the budget has granted
  Entry entries[kMaxEntries + 1];

  bool grow() {
    constexpr size_t bytes = kPiece * sizeof(Entry);
    if (capacity == 0) {
      budget::take_first_for_paths(bytes);
    } else if (capacity == kMaxEntries || !budget::take_for_paths(bytes)) {
      return false;
    }
    capacity += kPiece;
    return true;
  }

  bool still_holds(uint32_t outer) const {
    for (; outer != 0; outer = entries[outer].outer) {
      const Entry& entry = entries[outer];
      if (held_below(entry.cfa) != entry.return_address) return false;
    }
    return true;
  }
};

uint32_t PathMemo::find(uintptr_t cfa, uintptr_t return_address) {
  if (store_ == nullptr) return 0;
  uint32_t* link = &store_->heads[bucket_of(cfa, return_address)];
  uint32_t* const head = link;
  for (unsigned way = 0; *link != 0 && way < kMaxWays; ++way) {
    const uint32_t number = *link;
    Entry& entry = store_->entries[number];
    if (entry.path != 0 && entry.cfa == cfa && entry.return_address == return_address &&
        store_->still_holds(entry.outer)) {
      *link = entry.next;
      entry.next = *head;
      *head = number;
      return entry.path;
    }
    link = &entry.next;
  }
  return 0;
}

bool PathMemo::reserve(unsigned frames) {
  if (store_ == nullptr) store_ = static_cast<Store*>(map_memory(sizeof(Store)));
  if (store_ == nullptr) return false;
  if (store_->count + frames <= store_->capacity || store_->grow()) return true;
  memset(store_->heads, 0, sizeof store_->heads);
  store_->count = 0;
  tally(&trace::RawProcess::forgotten_paths);
  return true;
}

uint32_t PathMemo::find_or_make(const Frame& frame, uint32_t outer) {
  uint32_t& head = store_->heads[bucket_of(frame.cfa, frame.address)];
  uint32_t number = head;
  for (unsigned way = 0; number != 0 && way < kMaxWays; ++way) {
    const Entry& entry = store_->entries[number];
    if (entry.cfa == frame.cfa && entry.return_address == frame.address && entry.outer == outer) {
      return number;
    }
    number = entry.next;
  }
  store_->entries[++store_->count] = {frame.cfa, frame.address, outer, 0, head};
  return head = store_->count;
}

void PathMemo::add(const Frames& frames, uint32_t path) {
  if (!kReturnAddressesAreOnTheStack || frames.count == 0 || frames.cut || path == 0) return;
  for (unsigned i = 0; i < frames.count; ++i) {
    if (held_below(frames.at[i].cfa) != frames.at[i].address) return;
  }
  if (!reserve(frames.count)) return;
  uint32_t entry = 0;
  for (unsigned i = frames.count; i-- > 0;) entry = find_or_make(frames.at[i], entry);
  store_->entries[entry].path = path;
}

void PathMemo::release() {
  if (store_ != nullptr) budget::give_back_for_paths(store_->capacity * sizeof(Entry));
  unmap_memory(store_, sizeof(Store));
  store_ = nullptr;
}

}  // namespace culprit::collector
