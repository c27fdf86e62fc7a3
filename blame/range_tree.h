// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A list on which values are added to ranges and read at points, both in O(log n): what the waits
// inside synchronisation intervals inherit. Nothing is ever subtracted, so sums stay exact where
// their terms are.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace culprit::blame {

class RangeTree {
 public:
  struct Value {
    double sum = 0;
    double largest = 0;
  };

  explicit RangeTree(size_t size) : size_(size), nodes_(2 * size) {}

  /// Adds `value.sum` to, and raises the maximum to `value.largest` of, all i in [begin, end).
  void add(size_t begin, size_t end, Value value) {
    for (begin += size_, end += size_; begin < end; begin /= 2, end /= 2) {
      if (begin % 2 == 1) raise(nodes_[begin++], value);
      if (end % 2 == 1) raise(nodes_[--end], value);
    }
  }

  Value at(size_t i) const {
    Value value;
    for (i += size_; i >= 1; i /= 2) raise(value, nodes_[i]);
    return value;
  }

 private:
  static void raise(Value& node, Value by) {
    node.sum += by.sum;
    node.largest = std::max(node.largest, by.largest);
  }
  size_t size_;
  std::vector<Value> nodes_;
};

}  // namespace culprit::blame
