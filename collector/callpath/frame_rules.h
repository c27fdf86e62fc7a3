// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// How to find a function's caller from one of its instructions, by the tables for exceptions. They
// are read from the mapped files without trusting them, and rules are remembered. MT: one thread at
// a time.
#pragma once

#include <cstdint>

namespace culprit::collector {

struct FrameRule {
  enum class Base : uint8_t { none, sp, fp, expression };
  /// The order matters: first operations that push a value, then those that change the top one,
  /// then those that take two.
  enum class Operation : uint8_t { sp, pc, fp, number, plus, load, add, both, at_least, shift };
  struct Expression {
    static constexpr unsigned kMost = 12;
    struct {
      Operation operation;
      int64_t number;
    } at[kMost];
    unsigned count = 0;  ///< 0: there is no expression
  };

  Base base = Base::none;
  bool ends = false;        ///< the outermost frame: it has no caller
  bool is_signals = false;  ///< a signal handler's frame: the kernel called it, after an
                            ///< interruption of the frame above
  bool saves_fp = false;
  int64_t offset = 0;          ///< offset of the canonical frame address (CFA) from its base
  int64_t return_offset = -8;  ///< offset of the return address from the CFA
  int64_t fp_offset = 0;       ///< offset of the caller's frame pointer from the CFA, if it is
                               ///< saved
  uintptr_t function = 0;      ///< address of the function's first instruction
  Expression cfa, return_at, fp_at;

  /// Whether the frame cannot be found without the frame pointer.
  bool needs_fp() const {
    if (base != Base::expression) return base == Base::fp;
    for (unsigned i = 0; i < cfa.count; ++i) {
      if (cfa.at[i].operation == Operation::fp) return true;
    }
    return false;
  }
};

/// The rule for the instruction at `pc`; nullptr if it is unknown. Valid until the next call.
const FrameRule* frame_rule(uintptr_t pc);

}  // namespace culprit::collector
