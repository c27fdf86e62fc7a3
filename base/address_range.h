// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A piece of a program's memory, asked for by addresses that were found on a stack: they can be
// anything, also the last of all, behind which sums begin at 0 again.
#pragma once

#include <cstdint>

namespace culprit {

struct AddressRange {
  uint64_t begin = 0;
  uint64_t size = 0;

  /// Whether all of the `bytes` bytes at `address` are in it.
  constexpr bool holds(uint64_t address, uint64_t bytes) const {
    return bytes <= size && address - begin <= size - bytes;
  }
};

}  // namespace culprit
