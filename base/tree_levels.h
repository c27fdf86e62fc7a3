// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The number of rounds until the data of `members` has come to one of them, if each round brings it
// from twice as many: the levels of a binary tree.
#pragma once

#include <bit>
#include <cstdint>

namespace culprit {

inline uint32_t tree_levels(uint64_t members) {
  return members < 2 ? 0 : static_cast<uint32_t>(std::bit_width(members - 1));
}

}  // namespace culprit
