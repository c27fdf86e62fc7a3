// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What one of the program's own threads slept, and when it was awake. A sleep is time in which a
// thread has nothing to do, or waits for somebody to give it something: waits for conditions,
// semaphores, futexes, pipes and the like, calls in which it slept for a reason that nobody knows,
// and naps. Who waits for a lock, a barrier, a join or a message has work, and counts as awake.
#pragma once

#include <cstdint>
#include <vector>

#include "replay/model/waits.h"

namespace culprit::replay {

struct Sleep {
  Time begin;
  Time end;              ///< when somebody woke it, or it went on by itself
  LocationId waker;      ///< none: nobody that is known
  Time needed;           ///< from when on somebody needed the thread; `end`: nobody did
  LocationId needed_by;  ///< none: nobody that waited for the thread
  bool is_last = false;  ///< the thread never woke up

  bool is_spare() const { return begin < needed; }
};

struct Stretch {
  Time begin, end;
};

/// Another thread made it. A location may have several threads, one after the other.
struct Making {
  Stretch before;  ///< until when it was not there
  LocationId by;
};

/// One of the program's own threads.
struct Sleeper {
  LocationId id;
  LocationId maker;  ///< of the first; none: not known
  RegionId root;     ///< the function that it runs
  std::vector<Sleep> sleeps;
  std::vector<Stretch> awake;
  std::vector<Making> makings;
};

/// Call paths at which threads sleep.
class SleepingPaths {
 public:
  explicit SleepingPaths(const Run& run);

  /// Whether an activity there is a sleep, whoever ends it.
  bool contains(CallPathId path) const { return kinds_[path.index()] == Kind::sleep; }
  /// Whether the wait is one for something to do.
  bool is_for_work(const Wait& wait) const;

 private:
  enum class Kind : uint8_t { other, sleep, lock };
  Kind kind_of(const Run& run, const std::vector<bool>& is_nap, CallPathId path) const;

  std::vector<Kind> kinds_;  ///< by CallPathId
};

/// `acts`: the moments at which it ended waits of others, in order. It is not asleep then.
Sleeper read_sleeper(const Run& run, const Column<Wait>& waits, const SleepingPaths& paths,
                     const std::vector<Time>& acts, LocationId id);

}  // namespace culprit::replay
