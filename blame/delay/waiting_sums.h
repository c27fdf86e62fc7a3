// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// How long a location waited in a range of its waits. Ranges are mostly short, and are added up; a
// sum for each block of waits keeps the long ones cheap, at half a byte a wait.
#pragma once

#include "base/column.h"
#include "replay/model/waits.h"

namespace culprit::blame {

/// Running sums of a location's waits, kept for each block of them.
class WaitingSums {
 public:
  explicit WaitingSums(const Column<replay::Wait>& waits) : waits_(waits) {
    Duration sum;
    for (size_t w = 0; w < waits.size(); ++w) {
      if (w % kBlock == 0) before_.push_back(sum);
      sum += waits[w].amount;
    }
  }
  /// Returns the sum of waits [first, end).
  Duration between(size_t first, size_t end) const {
    if (end - first > kBlock) return before(end) - before(first);
    return sum(first, end);
  }

 private:
  static constexpr size_t kBlock = 16;
  Duration before(size_t end) const {
    if (end == 0) return Duration::zero();
    const size_t block = (end - 1) / kBlock;
    return before_[block] + sum(block * kBlock, end);
  }
  Duration sum(size_t first, size_t end) const {
    Duration sum;
    for (size_t w = first; w < end; ++w) sum += waits_[w].amount;
    return sum;
  }

  const Column<replay::Wait>& waits_;
  Column<Duration> before_;
};

}  // namespace culprit::blame
