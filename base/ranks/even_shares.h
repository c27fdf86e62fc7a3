// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// How work that lies in a row is dealt out: each rank gets a run of it, and all get about the same.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace culprit {

/// Returns where the runs of rank 1, 2, ... begin, for pieces of these weights. With more ranks
/// than pieces some get none. Sums of weights must not overflow.
inline std::vector<size_t> even_shares(std::span<const uint64_t> weights, size_t ranks) {
  uint64_t all = 1;  // there may be no pieces
  for (const uint64_t weight : weights) all += weight;
  std::vector<size_t> first;
  uint64_t before = 0;
  for (size_t i = 0; i < weights.size(); ++i) {
    // A piece goes to the rank in whose part of the whole its middle lies.
    const double middle = static_cast<double>(before) + 0.5 * static_cast<double>(weights[i]);
    const auto rank =
        static_cast<size_t>(middle / static_cast<double>(all) * static_cast<double>(ranks));
    while (first.size() < std::min(rank, ranks - 1)) first.push_back(i);
    before += weights[i];
  }
  while (first.size() + 1 < ranks) first.push_back(weights.size());
  return first;
}

}  // namespace culprit
