// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Which send met which receive. MPI does not overtake: between two processes, on one communicator
// and with one tag, the n-th message sent is the n-th received. Threads of one process that send
// or receive with the same three at the same time make that unclear; then the lengths of messages
// and the time help, and what stays unclear is counted.
#pragma once

#include <functional>

#include "base/losses.h"
#include "replay/match/sent_message.h"

namespace culprit::replay {

/// A message that was sent and received, as its receiver sees it.
struct MatchedMessage {
  LocationId receiver;    ///< where it was completed
  const MessageOp& recv;  ///< of that location
  const SentMessage& sent;
  uint32_t op;  ///< index of `recv`
};

/// Called by a receiving process's thread for each of its messages; those of one process come in an
/// order that is always the same, but not that of time.
class MessageVisitor {
 public:
  virtual ~MessageVisitor() = default;
  virtual void visit(const MatchedMessage& message) = 0;
  /// All messages of the process have been visited.
  virtual void finish() {}
};

/// Matches all messages that this rank's processes received. `visitor_of` makes the visitor of a
/// receiving process; visitors of different processes work at the same time. Collective; losses on
/// any rank are counted on the first.
void match_messages(const Run& run, unsigned threads,
                    const std::function<std::unique_ptr<MessageVisitor>(ProcessId)>& visitor_of,
                    Losses& losses);

}  // namespace culprit::replay
