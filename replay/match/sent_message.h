// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What travels to a message's receiver.
#pragma once

#include "replay/run.h"

namespace culprit::replay {

/// What a message costs itself on usual networks: who sends the next one that soon had it ready.
inline constexpr Duration kAtOnce = Duration::from_nanos(10'000);

/// Whether a call of a location is the next one after another in which anything happened, and soon.
/// The same call counts.
inline bool is_at_once(CallIndex before, CallIndex after, const Call& first, const Call& second) {
  return after == before || (after.index() == before.index() + 1 && first.path == second.path &&
                             second.enter - first.leave <= kAtOnce);
}

/// What a receiver must know of a message that was sent.
struct SentMessage {
  Call met;        ///< that handed it over: the send, or of a partitioned one its last MPI_Pready
  Call completed;  ///< only if completed_at is valid
  LocationId met_at, completed_at;
  bool may_wait = false;              ///< the send may have waited in `completed`
  uint8_t flow = MessageOp::kNoFlow;  ///< of its process, as in MessageOp
  bool at_once = false;               ///< posted right after another one on its channel (kAtOnce)
};

}  // namespace culprit::replay
