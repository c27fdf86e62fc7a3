// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Where a frame's return address lies, for those who know a stack by what it holds.
#pragma once

#include <cstdint>

namespace culprit::collector {

#if defined(__x86_64__)
inline constexpr bool kReturnAddressesAreOnTheStack = true;
#else
inline constexpr bool kReturnAddressesAreOnTheStack = false;
#endif

/// What lies where the frame with this canonical frame address keeps, or kept, its return address.
/// The frame may have ended long ago, on a stack that stands: then it is read whoever's it is now.
[[gnu::no_sanitize("address", "thread")]] inline uintptr_t held_below(uintptr_t cfa) {
  return reinterpret_cast<const uintptr_t*>(cfa)[-1];
}

}  // namespace culprit::collector
