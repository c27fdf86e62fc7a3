// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The frames of a stack, as unwinding finds them.
#pragma once

#include <cstdint>

namespace culprit::collector {

/// One frame: the address where it will continue, and its stack pointer once it does; on x86-64 the
/// return address lies just below that. `address` is always one past an instruction of the frame:
/// past the interrupted one where a signal came in, past the call in all others.
struct Frame {
  uintptr_t address;
  uintptr_t cfa;
};

struct Frames {
  static constexpr unsigned kMaxDepth = 256;
  Frame at[kMaxDepth];  ///< innermost first
  unsigned count = 0;
  bool cut = false;  ///< deeper than kMaxDepth: the outermost frames are missing
};

}  // namespace culprit::collector
