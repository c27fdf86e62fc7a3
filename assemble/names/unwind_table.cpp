// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "assemble/names/unwind_table.h"

#include <cstring>

namespace culprit::assemble {
namespace {

constexpr std::byte kVersion{1};
constexpr std::byte kCountIsUnsigned32{0x03};        // DW_EH_PE_udata4
constexpr std::byte kTableIsRelativeSigned32{0x3b};  // DW_EH_PE_datarel | DW_EH_PE_sdata4

/// version, three encodings, pointer to .eh_frame (4 bytes), number of entries (4 bytes).
constexpr size_t kCountAt = 8;
constexpr size_t kEntriesAt = 12;
constexpr size_t kEntrySize = 8;

template <class Integer>
Integer load(std::span<const std::byte> table, size_t at) {
  Integer value;
  std::memcpy(&value, table.data() + at, sizeof value);
  return value;
}

}  // namespace

std::optional<uint64_t> find_function_begin(std::span<const std::byte> table,
                                            uint64_t table_address, uint64_t address) {
  if (table.size() < kEntriesAt || table[0] != kVersion || table[2] != kCountIsUnsigned32 ||
      table[3] != kTableIsRelativeSigned32) {
    return std::nullopt;
  }
  const size_t count =
      std::min<size_t>(load<uint32_t>(table, kCountAt), (table.size() - kEntriesAt) / kEntrySize);
  const auto begin_of = [&](size_t entry) {
    const auto relative = load<int32_t>(table, kEntriesAt + entry * kEntrySize);
    return table_address + static_cast<uint64_t>(int64_t{relative});
  };
  size_t low = 0;
  size_t high = count;  // the first entry beyond `address`
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (begin_of(middle) <= address) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  if (low == 0) return std::nullopt;
  return begin_of(low - 1);
}

}  // namespace culprit::assemble
