// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Linear probing in a table of fixed size, whose pages are touched as it fills.
#include "collector/callpath/python_names.h"

#include <atomic>

namespace culprit::collector::python {

namespace {

constexpr uint32_t kSlots = 1u << 16;
constexpr uint32_t kMostTries = 256;

struct Slot {
  std::atomic<uintptr_t> code;  ///< 0: the place is free
  uintptr_t name;
  uint32_t line;
  std::atomic<bool> ready;  ///< the entry is complete
  std::atomic<bool> described;
};

Slot g_slots[kSlots];

uint32_t hash(const Frame& frame) {
  const uint64_t h = (frame.code ^ frame.name << 20 ^ frame.line) * 0x9e3779b97f4a7c15u;
  return static_cast<uint32_t>(h >> 32);
}

}  // namespace

uint32_t number_of(const Frame& frame) {
  uint32_t at = hash(frame) % kSlots;
  for (uint32_t i = 0; i < kMostTries; ++i, at = (at + 1) % kSlots) {
    Slot& slot = g_slots[at];
    uintptr_t code = slot.code.load(std::memory_order_acquire);
    if (code == 0 && slot.code.compare_exchange_strong(code, frame.code)) {
      slot.name = frame.name;
      slot.line = frame.line;
      slot.ready.store(true, std::memory_order_release);
      return at + 1;
    }
    if (code != frame.code || !slot.ready.load(std::memory_order_acquire)) continue;
    if (slot.name == frame.name && slot.line == frame.line) return at + 1;
  }
  return 0;
}

bool is_described(uint32_t number) {
  return g_slots[number - 1].described.load(std::memory_order_relaxed);
}

void set_described(uint32_t number) {
  g_slots[number - 1].described.store(true, std::memory_order_relaxed);
}

void forget_descriptions() {
  if (!is_there()) return;
  for (Slot& slot : g_slots) slot.described.store(false, std::memory_order_relaxed);
}

}  // namespace culprit::collector::python
