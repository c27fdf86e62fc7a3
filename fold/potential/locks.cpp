// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Both tables are hashed, and a few places behind the first are looked at.
#include "fold/potential/locks.h"

namespace culprit::fold {

namespace {

constexpr uint64_t kGolden = 0x9e3779b97f4a7c15;

size_t slot_of(uint64_t key, size_t slots) {
  return static_cast<size_t>((key * kGolden) >> 32) % slots;
}

}  // namespace

Lock* Locks::at(uint64_t mutex) {
  Lock* oldest = nullptr;
  const size_t first = slot_of(mutex, kLocks);
  for (size_t i = 0; i < kNear; ++i) {
    Lock& lock = locks_[(first + i) % kLocks];
    if (lock.mutex == mutex) return &lock;
    if (lock.wanted == 0 && (oldest == nullptr || lock.time < oldest->time)) oldest = &lock;
  }
  if (oldest == nullptr) return nullptr;
  *oldest = {};
  oldest->mutex = mutex;
  return oldest;
}

void Locks::earn(uint32_t holder, uint32_t acquired, uint32_t released, uint64_t ticks) {
  if (ticks == 0) return;
  const size_t first =
      slot_of(uint64_t{holder} << 48 ^ uint64_t{acquired} << 24 ^ released, kBlames);
  for (size_t i = 0; i < kNear; ++i) {
    LockBlame& blame = blames_[(first + i) % kBlames];
    if (blame.times == 0) blame = {holder, acquired, released, 0, 0};
    if (blame.holder != holder || blame.acquired != acquired || blame.released != released)
      continue;
    ++blame.times;
    blame.ticks += ticks;
    return;
  }
  other_ += ticks;
}

void Locks::rename_rows(uint32_t thread, const RowNumbers& numbers) {
  const auto rename = [&](uint32_t& row) {
    if (row < numbers.count) row = numbers.of[row];
  };
  for (Lock& lock : locks_) {
    if (lock.holder == link_to(thread)) rename(lock.acquired_at);
  }
  for (LockBlame& blame : blames_) {
    if (blame.times == 0 || blame.holder != thread) continue;
    rename(blame.acquired);
    rename(blame.released);
  }
}

}  // namespace culprit::fold
