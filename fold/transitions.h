// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What the fold of a thread's log hands on to whatever merges the threads of a process: in order of
// time, the ends of its stretches, each with the state in which the thread spent it, and its
// samples. The list's memory is its user's, who takes entries from its front; the fold appends, and
// gives rows their new numbers in all entries where rows move.
#pragma once

#include <cstdint>

#include "fold/rows.h"

namespace culprit::fold {

struct Transition {
  uint64_t time;       ///< ticks
  uint32_t row;        ///< of the stretch that ended; of a sample, the frame where it was found
  ProfileState state;  ///< in which the thread spent the time since the last end of a stretch
  bool sample;         ///< no stretch ended, but the thread was found there
  uint16_t weight;     ///< of a sample: expirations of the timer
};
static_assert(sizeof(Transition) == 16);

/// A list in somebody else's memory.
struct Transitions {
  Transition* entries = nullptr;
  uint32_t count = 0;
  uint32_t capacity = 0;

  /// The most that one record appends.
  static constexpr uint32_t kMostOfRecord = 8;
  bool has_room() const { return capacity - count >= kMostOfRecord; }
  void add(const Transition& entry) { entries[count++] = entry; }
};

}  // namespace culprit::fold
