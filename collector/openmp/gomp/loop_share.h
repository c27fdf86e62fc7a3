// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Worksharing constructs that the runtime distributes piece by piece, and their events, both in
// regions that begin with one and inside a region.
#pragma once

#include <cstdint>

namespace culprit::collector::openmp::gomp {

/// A loop or sections.
struct SharedWork {
  static constexpr unsigned kNone = 0;
  unsigned kind = kNone;  ///< an ompt_work_t
  long step = 0;          ///< the loop's step
  uint64_t count = 0;     ///< number of iterations or sections
};

/// Iterations of a loop from `begin` up or down to before `end`. `step` is not 0.
inline uint64_t iterations(long begin, long end, long step) {
  const bool empty = step > 0 ? begin >= end : begin <= end;
  if (empty) return 0;
  const auto distance = step > 0 ? static_cast<uint64_t>(end) - static_cast<uint64_t>(begin)
                                 : static_cast<uint64_t>(begin) - static_cast<uint64_t>(end);
  const auto stride = step > 0 ? static_cast<uint64_t>(step) : 0 - static_cast<uint64_t>(step);
  return (distance + stride - 1) / stride;
}

/// The calling thread begins its part of the work; `code`: the construct's address.
void begin_work(const SharedWork& work, const void* code);

}  // namespace culprit::collector::openmp::gomp
