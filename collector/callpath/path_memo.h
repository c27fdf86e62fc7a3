// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Remembers the call paths of earlier calls, so that a call from the same place costs a load and a
// compare a frame instead of an unwinding (about 100 ns a frame).
//
// A remembered stack is a list of entries, one a frame: the slot in which the return address lay,
// the address, and the entry of the next outer frame. Stacks share the entries of their common
// outer frames, so a program with many call paths needs few more entries than it has paths. The
// stack that was found last at a place is kept in a row beside them.
//
// Why it is right: called again from the same place with the same stack pointer, and all slots of a
// remembered stack still holding the same addresses, each frame is in the same function at the same
// call, so its frame has the same size and the next slot is where it was. The one assumption: a
// function whose frame varies in size (alloca) has not moved by chance so that a stale copy of its
// old return address stays in place while all frames below it keep theirs.
// Only where calls push their return address to a slot that the unwinder tells (x86-64); elsewhere
// the memo stays empty.
// MT: as PathTree.
#pragma once

#include <cstdint>

#include "collector/callpath/last_stack.h"

namespace culprit::collector {

class PathMemo {
 public:
  /// The path remembered for the function with this frame address and return address, if its stack
  /// is still the same; 0 if not. Moves the path it finds to the front.
  uint32_t find(uintptr_t cfa, uintptr_t return_address);

  /// Remembers the path of the whole `stack`, unless a frame's return address is not in its slot.
  /// The outermost `known` frames are those of the stack that was added before.
  void add(LastStack& stack, unsigned known);

  /// Forgets all stacks, since they may be gone, and keeps the memory.
  void clear();
  void release();

 private:
  struct Entry;
  struct Recent;
  struct Store;
  enum class Room { there, emptied, none };
  Room reserve(unsigned frames);
  bool still_stands(const Recent& stack) const;
  uint32_t find_entry(uintptr_t cfa, uintptr_t return_address);
  void lay_out(const Entry& entry);
  uint32_t find_or_make(const LastStack::Known& frame, uint32_t outer);
  Store* store_ = nullptr;
};

}  // namespace culprit::collector
