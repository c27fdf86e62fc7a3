// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Where a frame's return address lies, for code that recognises a stack by its contents.
#pragma once

#include <cstdint>

namespace culprit::collector {

#if defined(__x86_64__)
inline constexpr bool kReturnAddressesAreOnTheStack = true;
#else
inline constexpr bool kReturnAddressesAreOnTheStack = false;
#endif

/// The word in the slot where the frame with this canonical frame address keeps, or kept, its
/// return address. The frame may have ended long ago while its stack still exists: then the slot
/// may hold anything.
[[gnu::no_sanitize("address", "thread")]] inline uintptr_t held_below(uintptr_t cfa) {
  return reinterpret_cast<const uintptr_t*>(cfa)[-1];
}

}  // namespace culprit::collector
