// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A segment that is long enough by itself is never joined. Each group of joined ones is followed by
// such a long one or is long itself; hence there are at most two rows per length limit.
#include "blame/critical_path/short_segments.h"

#include <algorithm>

namespace culprit::blame {

std::vector<PathSegment> join_short_segments(std::span<const PathSegment> path, size_t most) {
  if (path.size() <= most) return {path.begin(), path.end()};
  const Duration whole = path.back().end - path.front().begin;
  const Duration enough = Duration::from_nanos(2 * whole.nanos() / static_cast<int64_t>(most) + 1);
  std::vector<PathSegment> joined;
  Duration longest;  // the longest part of the last segment, while that is still short
  bool open = false;
  for (const PathSegment& segment : path) {
    const Duration length = segment.end - segment.begin;
    if (!open || length >= enough) {
      joined.push_back(segment);
      longest = length;
    } else {
      PathSegment& last = joined.back();
      last.end = segment.end;
      if (length > longest) {
        longest = length;
        last.location = segment.location;
        last.path = segment.path;
      }
    }
    open = joined.back().end - joined.back().begin < enough;
  }
  return joined;
}

}  // namespace culprit::blame
