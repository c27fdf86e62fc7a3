// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "collector/callpath/last_stack.h"

#include "collector/callpath/return_slot.h"

namespace culprit::collector {

void LastStack::begin_walk() {
  left_ = kReturnAddressesAreOnTheStack ? count_ : 0;
  checked_ = false;
}

// Memory is read only once one of the frames has matched: until then this may be another stack, and
// the remembered one may be unmapped.
unsigned LastStack::meet(const Frame& frame) {
  while (left_ > 0 && at_[left_ - 1].cfa < frame.cfa) --left_;
  if (left_ == 0) return 0;
  const Known& known = at_[left_ - 1];
  if (known.cfa != frame.cfa || known.address != frame.address) return 0;
  if (!checked_) {
    checked_ = true;
    standing_ = 0;
    while (standing_ < left_ && held_below(at_[standing_].cfa) == at_[standing_].address) {
      ++standing_;
    }
  }
  return left_ <= standing_ ? left_ : 0;
}

bool LastStack::push(const Known& known) {
  if (count_ == Frames::kMaxDepth) {
    forget();
    return false;
  }
  at_[count_++] = known;
  return true;
}

}  // namespace culprit::collector
