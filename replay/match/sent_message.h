// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What travels to a message's receiver.
#pragma once

#include "replay/model/run.h"

namespace culprit::replay {

/// What a receiver must know of a message that was sent.
struct SentMessage {
  Call met;        ///< that handed it over: the send, or of a partitioned one its last MPI_Pready
  Call completed;  ///< only if completed_at is valid
  LocationId met_at, completed_at;
  bool may_wait = false;              ///< the send may have waited in `completed`
  uint8_t flow = MessageOp::kNoFlow;  ///< of its process, as in MessageOp
};

}  // namespace culprit::replay
