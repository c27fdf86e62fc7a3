// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// How a function's caller is found at one of its instructions, as the tables for exceptions say:
// read from the mapped files without trusting them, and remembered. MT: one thread at a time.
#pragma once

#include <cstdint>

namespace culprit::collector {

struct FrameRule {
  enum class Base : uint8_t { none, sp, fp, expression };
  /// In this order: those that push a value, those that change the last, those that take two.
  enum class Operation : uint8_t { sp, pc, fp, number, plus, load, add, both, at_least, shift };
  struct Expression {
    static constexpr unsigned kMost = 12;
    struct {
      Operation operation;
      int64_t number;
    } at[kMost];
    unsigned count = 0;  ///< 0: there is none
  };

  Base base = Base::none;
  bool ends = false;        ///< nobody called it
  bool is_signals = false;  ///< the kernel did, and interrupted what is above
  bool saves_fp = false;
  int64_t offset = 0;          ///< of the canonical frame address, from its base
  int64_t return_offset = -8;  ///< of the return address, from that
  int64_t fp_offset = 0;       ///< of the caller's frame pointer, likewise, if it is saved
  uintptr_t function = 0;      ///< where it begins
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

/// nullptr: nothing is known of the instruction. Holds until the next call.
const FrameRule* frame_rule(uintptr_t pc);

}  // namespace culprit::collector
