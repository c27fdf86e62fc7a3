// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The stack that was taken last. The next one most often shares its outer frames with it: frames
// whose return addresses are still in place need not be unwound again, so a program with very many
// call paths pays only for the frames that differ from one stack to the next. This is right for the
// same reason, and under the same assumption, as in PathMemo. MT: as PathTree.
#pragma once

#include <cstdint>

#include "collector/callpath/frames.h"

namespace culprit::collector {

class LastStack {
 public:
  struct Known {
    uintptr_t cfa;
    uintptr_t address;
    uint32_t path;   ///< number of the path from the outermost frame to this one
    uint32_t entry;  ///< this frame's entry in PathMemo
  };

  /// Begins a walk over the frames of another stack, innermost first.
  void begin_walk();
  /// Number of known frames from the outermost to `frame`; 0 if `frame` is not among them.
  unsigned meet(const Frame& frame);

  /// Keeps only the outermost `count` frames.
  void keep(unsigned count) { count_ = count; }
  /// False if the stack is too deep; then nothing is kept.
  bool push(const Known& known);
  void forget() { count_ = 0; }

  Known& operator[](unsigned i) { return at_[i]; }
  unsigned count() const { return count_; }

 private:
  Known at_[Frames::kMaxDepth];  ///< outermost first
  unsigned count_ = 0;
  // State of a walk:
  unsigned left_ = 0;      ///< frames further out than those that the walk has passed
  unsigned standing_ = 0;  ///< outermost frames whose return addresses are still in place
  bool checked_ = false;
};

}  // namespace culprit::collector
