// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Both are hash tables with linear probing, in which what follows a place that becomes free moves
// up: so that memory that was never used stays untouched, and there are no marks to be cleaned up.
#include "fold/carry_tables.h"

#include <iterator>

namespace culprit::fold {
namespace {

constexpr uint64_t kGolden = 0x9e3779b97f4a7c15u;

constexpr uint64_t mix(uint64_t a, uint64_t b) {
  const uint64_t mixed = (a ^ b * kGolden) * kGolden;
  return mixed ^ mixed >> 32;
}

// --- Held records ---

constexpr uint64_t kIndexMask = std::size(Carry{}.held_index) - 1;
static_assert((kIndexMask & (kIndexMask + 1)) == 0);

uint64_t home_of(const Held& held) {
  return mix(held.space, held.key) & kIndexMask;
}

/// Where a key's place in `held` stands in the index, or where the first free one is.
uint64_t find_in_index(const Carry& state, Space space, uint64_t key) {
  uint64_t at = mix(space, key) & kIndexMask;
  for (; state.held_index[at] != 0; at = (at + 1) & kIndexMask) {
    const Held& held = state.held[state.held_index[at]];
    if (held.space == space && held.key == key) break;
  }
  return at;
}

void clear_in_index(Carry& state, uint64_t at) {
  for (uint64_t next = at;;) {
    state.held_index[at] = 0;
    for (;;) {
      next = (next + 1) & kIndexMask;
      if (state.held_index[next] == 0) return;
      const uint64_t home = home_of(state.held[state.held_index[next]]);
      // It may move up unless its home lies behind the gap.
      if (((next - home) & kIndexMask) >= ((next - at) & kIndexMask)) break;
    }
    state.held_index[at] = state.held_index[next];
    at = next;
  }
}

void free_held(Carry& state, uint64_t at) {
  const uint16_t place = state.held_index[at];
  Held& held = state.held[place];
  clear_in_index(state, at);
  state.held[held.older].newer = held.newer;
  state.held[held.newer].older = held.older;
  held.space = 0;
  held.newer = static_cast<uint16_t>(state.held_free);
  state.held_free = place;
}

uint16_t take_place(Carry& state) {
  if (state.held_free != 0) {
    const auto place = static_cast<uint16_t>(state.held_free);
    state.held_free = state.held[place].newer;
    return place;
  }
  return static_cast<uint16_t>(++state.held_used);
}

// --- Counts ---

constexpr uint64_t kCountMask = kMostCounts - 1;
static_assert((kCountMask & kMostCounts) == 0);
constexpr uint32_t kMostCountsUsed = kMostCounts / 4 * 3;

uint64_t home_of(const Count& count) {
  return mix(mix(count.key[0], count.key[1]), count.key[2]) & kCountMask;
}

void clear_count(Carry& state, uint64_t at) {
  --state.count_used;
  for (uint64_t next = at;;) {
    state.counts[at] = {};
    for (;;) {
      next = (next + 1) & kCountMask;
      if (state.counts[next].key[0] == 0) return;
      const uint64_t home = home_of(state.counts[next]);
      if (((next - home) & kCountMask) >= ((next - at) & kCountMask)) break;
    }
    state.counts[at] = state.counts[next];
    at = next;
  }
}

}  // namespace

Held& add_held(Carry& state, Space space, uint64_t key) {
  if (state.held_free == 0 && state.held_used == kMostHeld) {
    const Held& oldest = state.held[state.held[0].newer];
    ++state.lost_held;
    free_held(state, find_in_index(state, static_cast<Space>(oldest.space), oldest.key));
  }
  const uint16_t place = take_place(state);
  Held& held = state.held[place];
  held.space = space;
  held.key = key;
  held.older = state.held[0].older;
  held.newer = 0;
  state.held[held.older].newer = place;
  state.held[0].older = place;
  state.held_index[find_in_index(state, space, key)] = place;
  return held;
}

uint64_t release_held(Carry& state, Space space, uint64_t key) {
  const uint64_t at = find_in_index(state, space, key);
  if (state.held_index[at] == 0) return 0;
  const uint64_t time = state.held[state.held_index[at]].record.header.time;
  free_held(state, at);
  return time;
}

Count* count_of(Carry& state, Space space, uint32_t object, uint64_t key, uint64_t number) {
  const Count wanted = {{space << 32 | object, key, number}, 0, 0};
  for (uint64_t at = home_of(wanted);; at = (at + 1) & kCountMask) {
    Count& count = state.counts[at];
    if (count.key[0] == 0) {
      if (state.count_used == kMostCountsUsed) {
        ++state.lost_counts;
        return nullptr;
      }
      ++state.count_used;
      count = wanted;
      return &count;
    }
    if (count.key[0] == wanted.key[0] && count.key[1] == key && count.key[2] == number) {
      return &count;
    }
  }
}

void drop_counts(Carry& state, uint32_t comm) {
  for (uint64_t at = 0; at < kMostCounts;) {
    const Count& count = state.counts[at];
    const bool gone = count.key[0] != 0 && static_cast<uint32_t>(count.key[0]) == comm &&
                      space_of(count) != kFences;
    if (gone) {
      clear_count(state, at);  // and look at what has moved up
    } else {
      ++at;
    }
  }
}

}  // namespace culprit::fold
