// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A list in which values are added to ranges and read at points: the costs that waits inside
// synchronisation intervals inherit. Ranges are mostly short, so the list has levels of blocks,
// each sixteen times the size of those below: a short range touches a few neighbours, a long one at
// most thirty of each level. Nothing is ever subtracted, so sums stay exact where their terms are.
// The lowest level, a value for each element, is the caller's: it has a place for it already.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "base/column.h"

namespace culprit::blame {

class RangeSums {
 public:
  struct Value {
    double sum = 0;
    double largest = 0;
  };

  explicit RangeSums(size_t size) {
    for (size /= kFanOut; size > 0; size /= kFanOut) levels_.emplace_back().resize(size);
  }

  /// Adds `value.sum` to, and raises the maximum to `value.largest` of, all i in [begin, end): by
  /// raise_one(i, value), or for whole blocks here.
  template <class RaiseOne>
  void add(size_t begin, size_t end, Value value, const RaiseOne& raise_one) {
    add_to_level(begin, end, [&](size_t i) { raise_one(i, value); });
    for (Column<Value>& level : levels_) {
      if (begin >= end) return;
      add_to_level(begin, end, [&](size_t i) { raise(level[i], value); });
    }
  }

  /// Returns the sum of all values added for i; `one` is the caller's value of the lowest level.
  Value at(size_t i, Value one) const {
    for (const Column<Value>& level : levels_) {
      i /= kFanOut;
      if (i >= level.size()) break;
      raise(one, level[i]);
    }
    return one;
  }

  static void raise(Value& node, Value by) {
    node.sum += by.sum;
    node.largest = std::max(node.largest, by.largest);
  }

 private:
  static constexpr size_t kFanOut = 16;

  /// Handles the elements at both ends that do not fill a block here, and reduces the range to
  /// whole blocks for the level above.
  template <class Visit>
  static void add_to_level(size_t& begin, size_t& end, const Visit& visit) {
    const size_t first = (begin + kFanOut - 1) / kFanOut, last = end / kFanOut;
    const bool blocks = first < last;
    for (size_t i = begin; i < (blocks ? first * kFanOut : end); ++i) visit(i);
    for (size_t i = last * kFanOut; blocks && i < end; ++i) visit(i);
    begin = blocks ? first : 0, end = blocks ? last : 0;
  }

  std::vector<Column<Value>> levels_;  // above the caller's
};

}  // namespace culprit::blame
