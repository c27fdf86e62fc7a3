// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A process's threads and teams as the merged changes show them. Plain data, zero at first, of
// fixed size: what nests deeper, or lives beside more of its kind, is not followed.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "fold/potential/crew.h"
#include "fold/potential/ledger.h"
#include "fold/potential/link.h"

namespace culprit::fold {

enum class WaitFor : uint8_t { nothing, barrier, children, group };

/// A level of a thread, which may be over.
struct LevelRef {
  uint32_t serial = 0;  ///< 0: none
  Link thread = 0;
  uint16_t depth = 0;
};

/// What a thread is in: a team, or a task that it runs there.
struct Level {
  uint64_t task = 0;    ///< 0: the implicit task of a team
  uint32_t serial = 0;  ///< unique in the process, for a long time
  Link team = 0;
  WaitFor waits = WaitFor::nothing;
  uint32_t children = 0;  ///< tasks that it created and that are not complete
  uint32_t grouped = 0;   ///< of its taskgroup: tasks created in it, or by these
  LevelRef group;         ///< to which the tasks that it creates belong
};

/// A task that is not complete.
struct OpenTask {
  uint64_t task = 0;
  LevelRef parent, group;
};

struct TeamThread {
  static constexpr uint32_t kLevels = 12;

  std::array<Level, kLevels> levels{};
  uint32_t depth = 0;
  uint32_t crew = 0;            ///< 0: none
  Link member_of = 0;           ///< the team that another thread forked for it
  Link next = 0, previous = 0;  ///< members of that team
  Link waits_in = 0;            ///< the team that counts it as waiting
  Doing doing = Doing::absent;
  bool alive = false;
  bool pool = false;          ///< works where others fork, and is idle in between
  bool for_one_team = false;  ///< made for it, and ended with it
  bool in_mpi = false;
  bool in_device = false;
  bool kept_out = false;  ///< another thread holds the lock that it wants
  uint32_t row = 0;       ///< of the last stretch
  uint32_t held_row = 0;  ///< of the lock that it releases at `held_until`
  uint64_t held_until = 0;
  uint64_t mutex = 0;               ///< that it wants; 0: none
  Link next_wanting = 0;            ///< who wants the same
  Link turn_after = 0;              ///< whose turn came after its own last time
  Wide owed = 0;                    ///< earned since the last stretch ended
  Wide since = 0;                   ///< the potential when it began to work
  Wide alone = 0, alone_since = 0;  ///< likewise of Crew::potential_of_one(), over its life
  Wide alone_then = 0;              ///< when a team was forked for which its crew lacked threads
  Wide early = 0;                   ///< earned while its crew lacked threads that it has now
  uint64_t kept_out_since = 0, kept_out_ticks = 0;
  Ledger ledger;

  /// The depth above the innermost level that `matches`; 0: none does. (Where tasks are nested
  /// deeply, the depth is much larger than the number of levels that are known.)
  template <class Matches>
  uint32_t find(const Matches& matches) const {
    for (uint32_t d = std::min(depth, kLevels); d > 0; --d) {
      if (matches(levels[d - 1])) return d;
    }
    return 0;
  }
  const Level* innermost() const {
    return depth == 0 ? nullptr : &levels[depth <= kLevels ? depth - 1 : kLevels - 1];
  }
};

struct Team {
  uint32_t region = 0;  ///< 0: none
  uint32_t size = 0;
  uint64_t forked = 0;       ///< when
  uint64_t alone_then = 0;   ///< Crew::idle_alone() then
  uint32_t master = 0;       ///< the thread that forked it
  Link first = 0;            ///< of its members
  uint32_t here = 0;         ///< have arrived at the barrier
  uint32_t waiting = 0;      ///< have nothing to do
  uint32_t called = 0;       ///< have not begun
  uint32_t handed = 0;       ///< of those that wait: a task is ready for them
  uint32_t ready_tasks = 0;  ///< that nobody has begun to run
  uint32_t open_tasks = 0;   ///< that are not complete
};

}  // namespace culprit::fold
