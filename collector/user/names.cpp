// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Open addressing over entries that never move and never go; new ones are published by one compare
// and exchange. Memory comes from the kernel (system_file.h), a piece at the first name.
#include "collector/user/names.h"

#include <atomic>
#include <cstring>

#include "collector/process/system_file.h"
#include "collector/user/filter.h"

namespace culprit::collector::user {

namespace {

constexpr size_t kLongest = 255;
constexpr uint32_t kSlots = 8192;
constexpr uint32_t kMaxNames = 2048;  // leaves room for MPI's names in each thread's table
constexpr uint32_t kMaxNamesWithFiles = kMaxNames / 2;
constexpr uint32_t kReserved = 64;  // for the common name, which several threads may make at once
constexpr char kOthers[] = "(other regions, whose names are too many)";
constexpr size_t kRoom = size_t{1} << 20;

std::atomic<const Name*> g_slots[kSlots];
std::atomic<char*> g_memory{nullptr};
std::atomic<size_t> g_used{0};
std::atomic<uint32_t> g_count{0};

uint32_t hash_of(const char* text, size_t length) {
  uint64_t hash = length;
  for (; length >= 8; text += 8, length -= 8) {
    uint64_t piece;
    memcpy(&piece, text, 8);
    hash = (hash ^ piece) * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 32;
  }
  uint64_t rest = 0;
  for (size_t i = 0; i < length; ++i)
    rest |= uint64_t{static_cast<unsigned char>(text[i])} << 8 * i;
  hash = (hash ^ rest) * 0x9e3779b97f4a7c15u;
  return static_cast<uint32_t>(hash >> 32);
}

bool is_same(const Name& name, uint32_t hash, const char* text, size_t length) {
  return name.hash == hash && name.length == length && memcmp(name.text, text, length) == 0;
}

char* memory() {
  char* known = g_memory.load(std::memory_order_acquire);
  if (known != nullptr) return known;
  const KeepErrno keep;
  auto* fresh = static_cast<char*>(map_memory(kRoom));
  if (fresh == nullptr || g_memory.compare_exchange_strong(known, fresh)) return fresh;
  unmap_memory(fresh, kRoom);
  return known;
}

const Name* make(uint32_t hash, const char* text, size_t length) {
  char* room = memory();
  const size_t bytes = (sizeof(Name) + length + 7) / 8 * 8;
  if (room == nullptr || g_count.load(std::memory_order_relaxed) >= kMaxNames ||
      g_count.fetch_add(1, std::memory_order_relaxed) >= kMaxNames) {
    return nullptr;
  }
  const size_t at = g_used.fetch_add(bytes, std::memory_order_relaxed);
  if (at + bytes > kRoom) return nullptr;
  auto* name = reinterpret_cast<Name*>(room + at);
  name->hash = hash;
  name->length = static_cast<uint16_t>(length);
  name->excluded = is_excluded_region({text, length});
  memcpy(name->text, text, length);  // zeros follow
  return name;
}

/// Adds a new name only while there are fewer than `most`.
const Name* find(const char* text, size_t length, uint32_t most) {
  if (length > kLongest) length = kLongest;
  const uint32_t hash = hash_of(text, length);
  const Name* fresh = nullptr;
  for (uint32_t slot = hash % kSlots;; slot = (slot + 1) % kSlots) {
    const Name* known = g_slots[slot].load(std::memory_order_acquire);
    if (known == nullptr) {
      if (fresh == nullptr && g_count.load(std::memory_order_relaxed) < most) {
        fresh = make(hash, text, length);
      }
      if (fresh == nullptr) return nullptr;
      if (g_slots[slot].compare_exchange_strong(known, fresh)) return fresh;
    }
    if (is_same(*known, hash, text, length)) return known;
  }
}

}  // namespace

const Name* name_of(const char* text, size_t length) {
  const Name* const own = find(text, length, kMaxNames - kReserved);
  return own != nullptr ? own : find(kOthers, sizeof kOthers - 1, kMaxNames);
}

const Name* name_of_file(const char* text, size_t length) {
  return find(text, length, kMaxNamesWithFiles);
}

}  // namespace culprit::collector::user
