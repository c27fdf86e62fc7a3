// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A store of entries, chained by the hash of slot and address. Its memory is taken a piece at a
// time (budget.h); when there is no more, it forgets everything and starts again in what it has.
// Pages are touched only as entries are made.
#include "collector/callpath/path_memo.h"

#include <cstring>

#include "collector/callpath/return_slot.h"
#include "collector/process/budget.h"
#include "collector/process/process_record.h"
#include "collector/process/system_file.h"

namespace culprit::collector {

namespace {

constexpr unsigned kBucketBits = 14;
constexpr unsigned kCallerBits = 17;
constexpr unsigned kRecentBits = 7;
constexpr unsigned kMaxEntries = 1u << 18;
constexpr unsigned kPiece = 1u << 12;  ///< entries
/// Limit on remembered callers that reach the same place at the same stack depth along different
/// ways. Looking at one costs a cache miss or two; unwinding the frames that differ from the last
/// stack costs 1 or 2 us.
constexpr unsigned kMaxWays = 24;

unsigned bucket_of(uintptr_t cfa, uintptr_t return_address) {
  const uint64_t h = (return_address ^ (cfa << 20)) * 0x9e3779b97f4a7c15u;
  return static_cast<unsigned>(h >> (64 - kBucketBits));
}

unsigned recent_of(uintptr_t cfa, uintptr_t return_address) {
  const uint64_t h = (return_address ^ (cfa << 20)) * 0x9e3779b97f4a7c15u;
  return static_cast<unsigned>(h >> (64 - kRecentBits));
}

unsigned bucket_of(uintptr_t cfa, uintptr_t return_address, uint32_t outer) {
  const uint64_t h =
      (return_address ^ (cfa << 20) ^ uint64_t{outer} * 0xff51afd7ed558ccdu) * 0x9e3779b97f4a7c15u;
  return static_cast<unsigned>(h >> (64 - kCallerBits));
}

}  // namespace

struct PathMemo::Entry {
  uintptr_t cfa;
  uintptr_t return_address;
  uint32_t outer;           ///< number of the caller's entry; 0: none, the stack ends here
  uint32_t path;            ///< number of the path of the stack that begins here; 0: this frame was
                            ///< never the innermost
  uint32_t next;            ///< next entry in the bucket by slot and address
  uint32_t next_by_caller;  ///< next entry in the bucket by slot, address and `outer`
};

/// The stack that was found last at its place, as one array: its frames are compared at once,
/// whereas in a list of entries each access waits for the one before.
struct PathMemo::Recent {
  static constexpr unsigned kFrames = 14;
  struct Outer {
    uintptr_t cfa;
    uintptr_t return_address;
  };
  uintptr_t cfa;
  uintptr_t return_address;
  uint32_t path;  ///< 0: this place is empty
  uint32_t frames;
  uint32_t rest;  ///< the entry further out than `frames`; 0: none
  Outer outer[kFrames];
};

struct PathMemo::Store {
  Recent recent[1u << kRecentBits];
  uint32_t heads[1u << kBucketBits];  ///< entry numbers count from 1; 0: none
  uint32_t heads_by_caller[1u << kCallerBits];
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

  /// A few entries occupy few buckets, so most of this memory stays untouched.
  void clear() {
    constexpr uint32_t kFew = 1u << 10;
    for (Recent& one : recent) one.path = 0;
    for (uint32_t number = 1; number <= count && count <= kFew; ++number) {
      const Entry& entry = entries[number];
      heads[bucket_of(entry.cfa, entry.return_address)] = 0;
      heads_by_caller[bucket_of(entry.cfa, entry.return_address, entry.outer)] = 0;
    }
    if (count > kFew) {
      memset(heads, 0, sizeof heads);
      memset(heads_by_caller, 0, sizeof heads_by_caller);
    }
    count = 0;
  }

  bool still_holds(uint32_t outer) const {
    for (; outer != 0; outer = entries[outer].outer) {
      const Entry& entry = entries[outer];
      if (held_below(entry.cfa) != entry.return_address) return false;
    }
    return true;
  }
};

inline bool PathMemo::still_stands(const Recent& stack) const {
  for (unsigned i = 0; i < stack.frames; ++i) {
    if (held_below(stack.outer[i].cfa) != stack.outer[i].return_address) return false;
  }
  return stack.rest == 0 || store_->still_holds(stack.rest);
}

uint32_t PathMemo::find(uintptr_t cfa, uintptr_t return_address) {
  if (store_ == nullptr) return 0;
  const Recent& recent = store_->recent[recent_of(cfa, return_address)];
  const bool is_here = recent.cfa == cfa && recent.return_address == return_address;
  if (is_here && recent.path != 0 && still_stands(recent)) [[likely]] {
    return recent.path;
  }
  return find_entry(cfa, return_address);
}

void PathMemo::lay_out(const Entry& entry) {
  Recent& recent = store_->recent[recent_of(entry.cfa, entry.return_address)];
  recent = {entry.cfa, entry.return_address, entry.path, 0, entry.outer, {}};
  while (recent.rest != 0 && recent.frames < Recent::kFrames) {
    const Entry& outer = store_->entries[recent.rest];
    recent.outer[recent.frames++] = {outer.cfa, outer.return_address};
    recent.rest = outer.outer;
  }
}

uint32_t PathMemo::find_entry(uintptr_t cfa, uintptr_t return_address) {
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
      lay_out(entry);
      return entry.path;
    }
    link = &entry.next;
  }
  return 0;
}

PathMemo::Room PathMemo::reserve(unsigned frames) {
  if (store_ == nullptr) store_ = static_cast<Store*>(map_memory(sizeof(Store)));
  if (store_ == nullptr) return Room::none;
  if (store_->count + frames <= store_->capacity || store_->grow()) return Room::there;
  store_->clear();
  tally(&trace::RawProcess::forgotten_paths);
  return Room::emptied;
}

uint32_t PathMemo::find_or_make(const LastStack::Known& frame, uint32_t outer) {
  uint32_t& by_caller = store_->heads_by_caller[bucket_of(frame.cfa, frame.address, outer)];
  for (uint32_t number = by_caller; number != 0; number = store_->entries[number].next_by_caller) {
    const Entry& entry = store_->entries[number];
    if (entry.cfa == frame.cfa && entry.return_address == frame.address && entry.outer == outer) {
      return number;
    }
  }
  uint32_t& head = store_->heads[bucket_of(frame.cfa, frame.address)];
  store_->entries[++store_->count] = {frame.cfa, frame.address, outer, 0, head, by_caller};
  return head = by_caller = store_->count;
}

void PathMemo::add(LastStack& stack, unsigned known) {
  const unsigned count = stack.count();
  if (!kReturnAddressesAreOnTheStack || count == 0 || stack[count - 1].path == 0) return;
  for (unsigned i = known; i < count; ++i) {
    // The frames that follow can no longer be trusted to be where they were.
    if (held_below(stack[i].cfa) != stack[i].address) return stack.keep(known);
  }
  const Room room = reserve(count);
  if (room == Room::none) return stack.forget();
  if (room == Room::emptied) known = 0;
  uint32_t entry = known > 0 ? stack[known - 1].entry : 0;
  for (unsigned i = known; i < count; ++i) {
    entry = stack[i].entry = find_or_make(stack[i], entry);
  }
  store_->entries[entry].path = stack[count - 1].path;
}

void PathMemo::clear() {
  if (store_ != nullptr) store_->clear();
}

void PathMemo::release() {
  if (store_ != nullptr) budget::give_back_for_paths(store_->capacity * sizeof(Entry));
  unmap_memory(store_, sizeof(Store));
  store_ = nullptr;
}

}  // namespace culprit::collector
