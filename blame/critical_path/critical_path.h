// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The critical path: from the location that ends last, back in time; it stays on a location until
// it meets a wait, then goes on at the wait's cause at the same moment (thesis, section 5.3). It is
// contiguous, so its length is the run's wall-clock time, exactly.
#pragma once

#include <vector>

#include "replay/model/waits.h"

namespace culprit::blame {

struct PathSegment {
  LocationId location;
  CallPathId path;
  Time begin, end;
};

/// Time on the path of a location at a call path.
struct CriticalPlace {
  LocationId location;
  CallPathId path;
  Duration on_path;
};

struct CriticalPath {
  /// The path's segments in time order; adjacent segments of one location and call path are merged.
  /// Rank 0 has the whole path, other ranks have none.
  Column<PathSegment> segments;
  std::vector<CriticalPlace> places;  ///< of this rank's locations, by location and call path
};

/// Collective.
CriticalPath find_critical_path(const replay::Run& run, const replay::WaitGraph& graph,
                                unsigned threads);

}  // namespace culprit::blame
