// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Calls that ask, again and again, whether something is done (MPI_Test, cudaEventQuery) have one
// record for all of them.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/time.h"

namespace culprit::assemble {

/// From when to when a location is told to have asked.
struct Asking {
  Time begin, end;
};

/// `first` and `last`: the enter of the first call and the leave of the last; `inside`: the time
/// within all `count` of them. If the program did little else meanwhile, it asked all the time: a
/// loop that does nothing but ask spends as long between calls as it takes to record them. Else it
/// asked for as long as the calls took, which is taken to be behind all that it did.
inline Asking time_of_asking(Time first, Time last, Duration inside, uint64_t count) {
  constexpr double kLoopAlone_ns = 1000;  // a pass of such a loop, and its record
  last = std::max(first, last);
  const double between = static_cast<double>((last - first - inside).nanos());
  const bool waits =
      inside + inside >= last - first || between <= kLoopAlone_ns * static_cast<double>(count);
  return {waits ? first : std::max(first, last - inside), last};
}

}  // namespace culprit::assemble
