// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Which functions of an executable the collector is not to record: names are looked up before the
// program starts, so that the collector only has to look for an address. A file of the experiment
// for each executable, which inode and size tell apart; it is a table with open addressing.
#pragma once

#include <cstdint>

namespace culprit::trace {

struct RawFilter {
  static constexpr uint32_t kMagic = 0x66706c63;  // "clpf"
  uint32_t magic;
  uint32_t bits;  ///< the table has 2^bits slots, half of them free at least
  // Then the slots, uint64 each: the address of a function in the file; 0: free.
};

constexpr uint32_t kMaxRawFilterBits = 24;

/// The slot where the search begins. Functions are aligned, so the low bits say little.
constexpr uint64_t raw_filter_slot(uint64_t address, uint32_t bits) {
  return (address * 0x9e3779b97f4a7c15u) >> (64 - bits);
}

}  // namespace culprit::trace
