// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// How threads and teams of a process refer to each other in memory that is zero at first.
#pragma once

#include <cstdint>

namespace culprit::fold {

/// A thread or a team by its number plus one, so that 0, which memory holds at first, is none.
using Link = uint16_t;

constexpr Link link_to(uint32_t number) {
  return static_cast<Link>(number + 1);
}
constexpr uint32_t number_of(Link link) {
  return uint32_t{link} - 1;
}

}  // namespace culprit::fold
