// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What looks at running processes have shown. Times on a core, without one and asleep are the
// scheduler's account, and exact; where in the program they were spent is known from the looks, and
// so is who was waited for.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "assemble/attach/spot.h"

namespace culprit::assemble::attach {

/// The largest come first in all lists.
struct SeenSpot {
  Spot spot;
  uint64_t looks = 0;
  double seconds = 0;  ///< its share of the thread's time on a core or asleep
};

struct SeenThread {
  uint32_t tid = 0;
  std::string name;
  bool ended = false;  ///< before the last look
  double watched_s = 0;
  double on_core_s = -1;       ///< < 0: the system does not say
  double without_core_s = -1;  ///< it could have run; likewise
  double asleep_s = -1;        ///< likewise
  uint64_t looks = 0;
  std::vector<SeenSpot> spots;
};

struct SeenProcess {
  pid_t pid = 0;
  std::string name, user, refusal, debugger;
  bool ended = false;     ///< while it was looked at
  bool nameless = false;  ///< most of the program's functions have no names
  double watched_s = 0;
  std::vector<SeenThread> threads;
};

/// Work of a thread during which other threads of its process waited.
struct SeenCulprit {
  pid_t pid = 0;
  uint32_t tid = 0;
  Spot spot;
  double waiting_s = 0;  ///< of threads: what each waited is shared by those that worked
  double locks_s = 0;    ///< the part of it that waited for a lock that the thread held
};

struct Seen {
  double seconds = 0;
  uint64_t looks = 0;
  std::vector<SeenProcess> processes;
  std::vector<SeenCulprit> culprits;
  double waiting_s = 0;       ///< of threads in OpenMP's runtime, for locks, threads, and in loops
  double nobody_s = 0;        ///< the part of it in which no thread of the process worked
  double somebody_s = 0;      ///< the part for which it cannot be seen who was waited for
  uint64_t stops = 0;         ///< how often a thread was stopped for its stack,
  double stopped_s = 0;       ///< how long all together, at most,
  double longest_stop_s = 0;  ///< and once
  uint64_t refused = 0;       ///< how often that was refused
  double own_core_s = 0;      ///< what the looks themselves took
};

}  // namespace culprit::assemble::attach
