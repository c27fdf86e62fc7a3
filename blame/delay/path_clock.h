// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Compact form of long excess vectors: a location that rarely synchronises with each of its many
// partners visits very many call paths between two synchronisations, and each of the partners waits
// for all of them. Written out, such vectors take quadratic space. At call paths that the waiter
// never visited in the interval, however, the excess is simply the late location's time; so only
// the interval is kept, and the entries to subtract, which are as few as the waiter's call paths
// (SharedExcess). The result is the same to the nanosecond.
#pragma once

#include <span>
#include <vector>

#include "base/flat_map.h"
#include "blame/profile/stretches.h"

namespace culprit::blame {

/// Time without waiting of one location, by call path, between any two moments. A walk over its
/// life to build, the logarithm of a call path's visits for each question.
class PathClock {
 public:
  /// Builds the clock of all call paths, or of those in `only`.
  PathClock(const replay::Run& run, LocationId id, std::span<const replay::Wait> waits)
      : PathClock(run, id, waits, nullptr) {}
  PathClock(const replay::Run& run, LocationId id, std::span<const replay::Wait> waits,
            std::span<const CallPathId> only)
      : PathClock(run, id, waits, &only) {}

  /// Returns the time at `path` within [begin, end).
  Duration time(CallPathId path, Time begin, Time end) const {
    const uint32_t place = place_of_.find(path.index());
    return place == FlatMap::kNone ? Duration::zero() : between(marks_[place], begin, end);
  }
  /// Returns the time at all call paths of this clock.
  Duration time(Time begin, Time end) const { return between(all_, begin, end); }

 private:
  /// The beginning of an interval, and the summed time before it. The last entry of a list marks
  /// its end.
  struct Mark {
    Time begin;
    Duration before;
  };
  PathClock(const replay::Run& run, LocationId id, std::span<const replay::Wait> waits,
            const std::span<const CallPathId>* only);
  static Duration between(const Column<Mark>& marks, Time begin, Time end) {
    return until(marks, end) - until(marks, begin);
  }
  static Duration until(const Column<Mark>& marks, Time time);

  FlatMap place_of_;                 // by call path: in marks_
  std::vector<Column<Mark>> marks_;  // in order of time
  Column<Mark> all_;
};

/// A wait whose excess vector is the late location's time in [begin, end), less the entries that
/// are kept for it.
struct SharedExcess {
  Time begin, end;
  uint32_t place;  ///< of the wait, in DelayAnalysis::caused of the late location
};

}  // namespace culprit::blame
