// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// MPI calls that lasted longer than anything explains. A call may wait for others (its waits are
// known), and then it has to move data. The time for that is judged by similar calls (of the same
// function, with about as many bytes, on the same thread) and by the needs of the slowest machines:
//
//   tau    = max(50 us, min(3 * lower quartile, levels * (100 us + bytes / 0.5 GB/s)))
//   levels = binary logarithm of the processes that take part, rounded up
//
// The quartile is that of the time after the last wait of each call. The time of a call beyond tau
// is unexplained. Calls whose amount of data is unknown have no upper limit.
#pragma once

#include <vector>

#include "blame/profile/path_kinds.h"
#include "replay/model/waits.h"

namespace culprit::blame {

/// An interval of a location's time that is unexplained.
struct Mystery {
  CallPathId path;
  Time begin, end;
  double time_s = 0;  ///< at most end - begin
};

/// Returns the unexplained intervals of one location, in order of time.
std::vector<Mystery> too_long_calls(const replay::Run& run, LocationId id,
                                    const Column<replay::Wait>& waits,
                                    const Column<replay::LongCall>& sizes,
                                    const std::vector<PathKind>& kinds);

}  // namespace culprit::blame
