// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The seam between detectors and explanations: wait states and synchronisation points. A detector
// knows one programming model and fills this; an explanation reads it and knows no model.
//
// A wait state is a stretch in which a location can do nothing until another acts; it has one
// cause, a location and a time. Waits of a location do not overlap and are sorted by time. A
// synchronisation point joins two locations, or each two of a group, in an operation in which a
// wait occurred; the locations see it as a stretch of their own (enter to exit of the operation).
#pragma once

#include <vector>

#include "base/ids.h"
#include "base/time.h"
#include "replay/patterns.h"
#include "replay/run.h"

namespace culprit::replay {

using GroupId = Id<struct GroupTag>;

struct Wait {
  Time begin;  ///< also the end of its synchronisation interval on the waiter
  Time end;
  Duration amount;  ///< end - begin, less what the location did in between (tasks in a barrier)
  CallPathId path;
  LocationId cause;  ///< who was waited for
  Time cause_time;   ///< when that one entered its operation: the end of the interval there
  Pattern pattern;
};

/// A synchronisation point as one of its locations sees it.
struct Sync {
  Time enter, exit;    ///< of its own operation
  LocationId partner;  ///< none: a group's
  Time partner_exit;   ///< of the partner's operation
  GroupId group;
  uint32_t instance = 0;  ///< of the group
};

/// The same set of locations synchronising again and again (a communicator, a team).
struct Group {
  std::vector<LocationId> members;       ///< sorted
  std::vector<std::vector<Time>> exits;  ///< by instance, by position in `members`
};

/// Where the holder of a lock took it and gave it back, of a wait of omp.lock, omp.critical,
/// omp.ordered or omp.atomic with the same begin; the holder is that wait's cause.
struct LockWait {
  Time begin;
  CallPathId acquired;  ///< the innermost region then: the critical construct, the call for a lock
  CallPathId released;  ///< none: it was held until the end, as far as the trace tells
};

struct WaitGraph {
  std::vector<std::vector<Wait>> waits;           ///< by LocationId, sorted by begin
  std::vector<std::vector<Sync>> syncs;           ///< by LocationId, sorted by enter
  std::vector<std::vector<LockWait>> lock_waits;  ///< by LocationId, sorted by begin
  std::vector<Group> groups;                      ///< by GroupId
};

/// Finds all waits of a run and carves them out of its activities (Activity::wait). Runs every
/// detector of detectors.cpp. Counts what does not fit into Run::losses.
WaitGraph detect_waits(Run& run, unsigned threads);

}  // namespace culprit::replay
