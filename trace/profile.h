// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A calling-context profile of a run with names: for each location, sums by call path, and no
// events. The assembler makes it of the collector's files; blame/ makes findings of it. Call paths
// are those that the run's trace would have: a worker's hang below the region that it was forked
// for.
#pragma once

#include <cstdint>
#include <vector>

#include "base/ids.h"
#include "base/time.h"
#include "trace/definitions.h"

namespace culprit::trace {

/// A call path of the profile; parents come before their children.
struct ProfilePath {
  CallPathId parent;  ///< none for roots
  RegionId region;
};

/// One location at one call path, without what it did further down.
struct ProfileEntry {
  CallPathId path;
  uint64_t visits = 0;
  Duration time;      ///< with waiting
  Duration waiting;   ///< the part of it in which the thread is known to have waited for others
  Duration observed;  ///< the part that is known without samples
  uint64_t samples = 0;
  uint64_t bytes = 0;   ///< sent and received by calls of MPI
  Duration longest;     ///< visit
  Duration blame;       ///< idle time of other threads of the process while this was executed
  Duration lock_blame;  ///< waiting of other threads for a lock that was acquired here
  Duration system;      ///< CPU time in the kernel
  Duration faulting;    ///< the part of it that page faults took
  uint64_t page_faults = 0;
};

/// A location, or a thread of the program's own, which exists only for a part of the run.
struct ProfileLine {
  Time begin, end;         ///< of the time that its rows cover
  bool of_a_pool = false;  ///< an OpenMP runtime made it: outside of its rows it is idle
  bool complete = true;    ///< false: it was cut off in the middle of a change
  uint64_t records = 0;    ///< that became these rows
  std::vector<ProfileEntry>
      rows;         ///< each call path at most once, in order; empty: nothing is known
  Duration idle;    ///< outside of teams, of a pool's thread
  Duration waking;  ///< between a fork and its begin, likewise
};

/// A figure of a call path over the ranks, each with all its threads. Ranks that have none count
/// with 0.
struct ProfileSpread {
  uint64_t ranks = 0;  ///< that have any
  double sum = 0;
  double squares = 0;
  double least = 0;
  double most = 0;
  uint32_t least_rank = 0;
  uint32_t most_rank = 0;
};

struct PathSpreads {
  ProfileSpread time;  ///< s, with waiting
  ProfileSpread visits;
  ProfileSpread bytes;
};

/// Idle time of a process's threads in which none of them worked, by what another one did; `early`:
/// before the pool had the idle one.
struct ProfileNobody {
  enum class Reason : uint8_t { mpi, mutex, device, waking, early, other };
  LocationId first;  ///< of the process's threads
  Reason reason = Reason::other;
  Duration time;
};

struct Profile {
  Definitions definitions;
  std::vector<ProfilePath> paths;    ///< by CallPathId
  std::vector<PathSpreads> spreads;  ///< likewise
  uint64_t ranks = 0;                ///< over which figures are spread
  std::vector<ProfileLine> lines;    ///< by LocationId
  uint64_t joined_rows =
      0;                   ///< of lines, whose figures are their callers' now: there were too many
  bool has_blame = false;  ///< idle time was shifted to those that worked, or waits to holders
  std::vector<ProfileNobody> nobody;  ///< the rest of it
  Duration not_shared;                ///< idle time that is in neither
};

}  // namespace culprit::trace
