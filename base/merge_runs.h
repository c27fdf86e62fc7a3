// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Sorts sequences of a few ascending runs, such as lists that several producers filled in order of
// time: n log(runs) instead of n log(n), and no work at all if the sequence is in order already.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "base/column.h"

namespace culprit {

/// Stable. `less` is a strict weak order.
template <class T, class Less>
void merge_runs(T* begin, T* end, const Less& less) {
  std::vector<T*> edges{begin};
  for (T* at = begin; at != end;) {
    at = std::is_sorted_until(at, end, less);
    edges.push_back(at);
  }
  if (edges.size() <= 2) return;
  Column<T> left;  // the shorter copy: of the first run of a pair
  while (edges.size() > 2) {
    size_t kept = 1;
    for (size_t i = 2; i < edges.size(); i += 2) {
      T *const first = edges[i - 2], *const middle = edges[i - 1], *const last = edges[i];
      left.clear();
      left.reserve(static_cast<size_t>(middle - first));
      for (const T* at = first; at != middle; ++at) left.push_back(*at);
      std::merge(left.begin(), left.end(), middle, last, first, less);
      edges[kept++] = last;
    }
    if (edges.size() % 2 == 0) edges[kept++] = edges.back();
    edges.resize(kept);
  }
}

}  // namespace culprit
