// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The state that fold/carry.h carries, as plain data: zeroed memory is the state before the first
// record, and memory that is not needed is not touched.
#pragma once

#include <cstddef>
#include <cstdint>

#include "trace/raw/raw.h"

namespace culprit::fold {

inline constexpr unsigned kMostOpen = 128;     ///< constructs and calls inside each other
inline constexpr unsigned kMostHeld = 1023;    ///< pending requests, locks, and the like
inline constexpr unsigned kMostCounts = 4096;  ///< channels and communicators; used to 3/4
inline constexpr unsigned kCarriedWords = 6;   ///< of a record; those of longer ones are left out
inline constexpr uint64_t kUnknownCount = ~uint64_t{0};

/// A record that is repeated in a preamble.
struct Carried {
  uint64_t order;   ///< 1, 2, ...: how the records carried follow each other
  uint64_t before;  ///< a message or an operation: how many its channel or communicator had before
                    ///< it; an omp_implicit_begin: barriers that the thread has begun since
  trace::RawHeader header;
  uint64_t words[kCarriedWords];
};

/// A record that holds until another one with the same key ends it.
struct Held {
  Carried record;
  uint64_t space, key;  ///< 0: this place is free
  uint64_t call;        ///< order of the call of MPI in which it was made; 0: none
  uint32_t path;        ///< of that call
  uint16_t name;        ///< likewise
  uint16_t older, newer;
};

/// Messages on a channel, or operations in a communicator.
struct Count {
  uint64_t key[3];  ///< what is counted and in which communicator; peer and tag; number. 0: free
  uint64_t count;
  uint64_t posted;  ///< when the latest posted of the messages received was posted, in ticks
};

struct Carry {
  uint64_t order;  ///< of the newest record carried
  uint32_t open_count;
  uint32_t deeper;  ///< constructs beyond kMostOpen, inside all others
  uint32_t held_used, held_free;
  uint32_t count_used;
  uint32_t unused;
  uint64_t lost_constructs, lost_held, lost_counts;  ///< for which there was no room
  Carried open[kMostOpen];
  Held held[kMostHeld + 1];  ///< a ring in order of time; 0 is before the first and behind the last
  uint16_t held_index[2 * (kMostHeld + 1)];  ///< places in `held`, by hash
  Count counts[kMostCounts];                 ///< by hash
};

}  // namespace culprit::fold
