// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Limits the number of segments of the critical path: a long run's path would have tens of
// millions, which are too many to look at and take longer to write than to find. Where a path has
// more, neighbours that are too short to see are joined; the path stays contiguous and as long as
// it was. Its profile (time by location and call path) is made before and stays exact.
#pragma once

#include <span>
#include <vector>

#include "blame/critical_path/critical_path.h"

namespace culprit::blame {

inline constexpr size_t kMostSegments = 500'000;

/// `path` in order of time, without gaps. If it has more than `most` segments, neighbours are
/// joined until they last for twice the path's length / `most`; what was joined has the location
/// and call path of its longest part, of equal ones the first.
std::vector<PathSegment> join_short_segments(std::span<const PathSegment> path, size_t most);

}  // namespace culprit::blame
