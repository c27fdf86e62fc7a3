// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The two tables of a Carry: records that hold until another one ends them, and counts.
#pragma once

#include <cstdint>

#include "fold/carry_state.h"

namespace culprit::fold {

/// What a key of the tables means. Each record has at most one of them.
enum Space : uint64_t {
  kLatest = 1,    ///< only the newest of its kind holds
  kRequests,      ///< by the request's number
  kFileRequests,  ///< likewise, of files
  kProbes,        ///< by the matched probe's number
  kLocks,         ///< by OpenMP's wait id
  kWindowLocks,   ///< by window and target
  kAccess,        ///< epochs, by window
  kExposure,      ///< likewise
  kSent,          ///< counts of messages, by communicator, peer and tag
  kReceived,      ///< likewise
  kOperations,    ///< counts, by communicator
  kFences,        ///< counts, by window
};

/// A place at the end of the ring; the oldest is dropped where there is none, and counted.
Held& add_held(Carry& state, Space space, uint64_t key);
/// Frees the place of this key. Returns the record's time; 0: it is not held.
uint64_t release_held(Carry& state, Space space, uint64_t key);

/// The count of this key, which is added if need be; null if there is no room, which is counted.
Count* count_of(Carry& state, Space space, uint32_t object, uint64_t key, uint64_t number);
/// Drops all counts of a communicator that is no more.
void drop_counts(Carry& state, uint32_t comm);

constexpr Space space_of(const Count& count) {
  return static_cast<Space>(count.key[0] >> 32);
}

}  // namespace culprit::fold
