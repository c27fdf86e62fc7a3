// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A list on which values are added to ranges and read at points: what the waits inside
// synchronisation intervals inherit. Ranges are mostly short, so the list has levels of blocks,
// each sixteen times the size of those below: a short range touches a few neighbours, a long one at
// most thirty of each level. Nothing is ever subtracted, so sums stay exact where their terms are.
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
    do {
      levels_.emplace_back().resize(size);
      size = size / kFanOut;
    } while (size > 0);
  }

  /// Adds `value.sum` to, and raises the maximum to `value.largest` of, all i in [begin, end).
  void add(size_t begin, size_t end, Value value) {
    for (size_t l = 0; begin < end; ++l) {
      // Whole blocks are left to the level above; what sticks out is done here.
      const size_t first = (begin + kFanOut - 1) / kFanOut, last = end / kFanOut;
      const bool blocks = first < last;
      const size_t middle = blocks ? first * kFanOut : end;
      for (size_t i = begin; i < middle; ++i) raise(levels_[l][i], value);
      if (!blocks) return;
      for (size_t i = last * kFanOut; i < end; ++i) raise(levels_[l][i], value);
      begin = first, end = last;
    }
  }

  Value at(size_t i) const {
    Value value;
    for (const Column<Value>& level : levels_) {
      if (i < level.size()) raise(value, level[i]);
      i /= kFanOut;
    }
    return value;
  }

 private:
  static constexpr size_t kFanOut = 16;
  static void raise(Value& node, Value by) {
    node.sum += by.sum;
    node.largest = std::max(node.largest, by.largest);
  }
  std::vector<Column<Value>> levels_;
};

}  // namespace culprit::blame
