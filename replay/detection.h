// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What detectors share: the place where each location collects what it found. A call may complete
// several operations (Waitall); the location then waits for the last of them, so of all candidates
// of one stretch the latest wins, and all that were waited for become synchronisation points.
#pragma once

#include <map>
#include <vector>

#include "replay/waits.h"

namespace culprit::replay {

/// What one location found. MT: externally synchronised; a detector gives each location to one
/// thread.
class Findings {
 public:
  /// The location waited from `begin` (enter of its call) at `path` until `until`, for `cause`,
  /// which entered its operation at `cause_time`. Clipped to `leave`, the end of the call.
  void wait(Pattern pattern, CallPathId path, Time begin, Time leave, Time until, LocationId cause,
            Time cause_time);
  void sync(const Sync& sync) { syncs.push_back(sync); }

  std::vector<Wait> waits;
  std::vector<Sync> syncs;
  std::vector<LockWait> lock_waits;
  uint64_t clock_violations = 0;  ///< the cause acted only after the wait's call was over
};

class Detection {
 public:
  explicit Detection(const Run& run) : by_location(run.timelines.size()) {}

  Findings& at(LocationId id) { return by_location[id.index()]; }

  /// The group of these locations (sorted), the same for the same set. MT: externally synchronised.
  GroupId group_of(const std::vector<LocationId>& members);
  /// Adds a synchronisation of a group; `exits` by position in its members.
  uint32_t add_instance(GroupId group, std::vector<Time> exits);

  /// Joins two locations at a synchronisation point, each in an operation of its own.
  void meet(LocationId a, Time exit_a, LocationId b, Time exit_b) {
    at(a).sync({exit_a, exit_a, b, exit_b, GroupId::none(), 0});
    at(b).sync({exit_b, exit_b, a, exit_a, GroupId::none(), 0});
  }

  std::vector<Findings> by_location;
  std::vector<Group> groups;
  Losses losses;

 private:
  std::map<std::vector<LocationId>, GroupId> group_ids_;
};

// The detectors, one per file; detectors.cpp lists them.
void detect_point_to_point(Run& run, unsigned threads, Detection& out);
void detect_collectives(Run& run, unsigned threads, Detection& out);
void detect_mutexes(Run& run, unsigned threads, Detection& out);
void detect_openmp_barriers(Run& run, unsigned threads, Detection& out);
void detect_idle_threads(Run& run, unsigned threads, Detection& out);
void detect_early_end(Run& run, unsigned threads, Detection& out);

}  // namespace culprit::replay
