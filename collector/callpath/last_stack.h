// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The stack that was taken last. The next one most often has its outer frames in common with it: as
// far as their return addresses still lie where they lay, they need not be taken again, and a
// program with very many call paths pays for what differs between one and the next alone.
// Why it is right: as in PathMemo, which makes the same assumption.
// MT: as PathTree.
#pragma once

#include <cstdint>

#include "collector/callpath/frames.h"

namespace culprit::collector {

class LastStack {
 public:
  struct Known {
    uintptr_t cfa;
    uintptr_t address;
    uint32_t path;   ///< of the stack from the outermost frame to here
    uint32_t entry;  ///< in PathMemo
  };

  /// A walk over the frames of another stack begins, innermost first.
  void begin_walk();
  /// How many frames, from the outermost to this one, are known; 0 if it is not among them.
  unsigned meet(const Frame& frame);

  /// Keeps the outermost `count`, and `with` behind them.
  void keep(unsigned count) { count_ = count; }
  /// False, and nothing is kept, if it is too deep.
  bool push(const Known& known);
  void forget() { count_ = 0; }

  Known& operator[](unsigned i) { return at_[i]; }
  unsigned count() const { return count_; }

 private:
  Known at_[Frames::kMaxDepth];  ///< outermost first
  unsigned count_ = 0;
  // While walking:
  unsigned left_ = 0;      ///< frames further out than those that have been met
  unsigned standing_ = 0;  ///< of them, from the outermost on, those that lie where they lay
  bool checked_ = false;
};

}  // namespace culprit::collector
