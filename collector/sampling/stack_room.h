// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Whether a call path may be taken: to walk along the stack needs some of it.
#pragma once

#include <signal.h>

#include <cstddef>
#include <cstdint>

namespace culprit::collector::sampling {

/// Handlers may run on a stack of a few kilobytes, without a guard page behind it.
inline bool has_room() {
  constexpr size_t kNeeded = size_t{16} << 10;
  stack_t stack = {};
  if (sigaltstack(nullptr, &stack) != 0 || (stack.ss_flags & SS_ONSTACK) == 0) return true;
  const auto here = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
  return here - reinterpret_cast<uintptr_t>(stack.ss_sp) >= kNeeded;
}

}  // namespace culprit::collector::sampling
