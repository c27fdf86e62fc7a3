// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Calls of MPI that lasted longer than anything explains. A call may wait for what others do (its
// waits are known), and then it has to move data. What that may take is judged by the call's own
// like, calls of one function with as many bytes on the same thread, and by what the slowest
// machines need:
//
//   tau    = max(50 us, min(3 * lower quartile, levels * (100 us + bytes / 0.5 GB/s)))
//   levels = binary logarithm of the processes that take part, rounded up
//
// The quartile is that of the time after the last thing waited for. What a call takes beyond tau is
// not explained. Calls of which nothing says how much they move have no upper limit.
#pragma once

#include <vector>

#include "blame/profile/path_kinds.h"
#include "replay/model/waits.h"

namespace culprit::blame {

/// A stretch of a location's time that is not explained.
struct Mystery {
  CallPathId path;
  Time begin, end;
  double time_s = 0;  ///< at most end - begin
};

/// Of one location, in order of time.
std::vector<Mystery> too_long_calls(const replay::Run& run, LocationId id,
                                    const Column<replay::Wait>& waits,
                                    const Column<replay::LongCall>& sizes,
                                    const std::vector<PathKind>& kinds);

}  // namespace culprit::blame
