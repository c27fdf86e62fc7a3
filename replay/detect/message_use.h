// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Which messages say little, as far as can be known without what they contain:
//
//   empty     it has no data (0 bytes). It may still be a signal that its receiver waits for
//   repeated  it has data, and follows another one so closely that the two could have been one:
//   from
//             the same thread and call path to the same one, on the same communicator and with the
//             same tag. The sender posts both in one call, or one in the next after the other, with
//             no other call in between in which it sent, received or met anybody, and at most
//             kAtOnce after it left the first; and likewise the receiver completes them
#pragma once

#include <cstdint>
#include <vector>

#include "base/flat_map.h"
#include "replay/match/messages.h"
#include "replay/waits.h"

namespace culprit::replay {

/// Judges and counts the messages that one process received.
class MessageUse {
 public:
  explicit MessageUse(const Run& run) : run_(run) {}

  /// Messages of one sender come together, those of a channel in order (MessageVisitor).
  MessageKind add(const MatchedMessage& message, CallRef completed_ref, const Call& completed);
  /// By call path and location of the sender.
  std::vector<MessageTally> take();

 private:
  /// The message before, and where it was completed.
  struct Last {
    LocationId from;
    CallPathId sent;
    CommId comm;
    int32_t tag = 0;
    CallRef completed_ref;
    Call completed;
  };
  /// A row of the present sender.
  struct Open {
    size_t row;
    bool data;
  };

  bool follows(const Last& now) const;
  MessageTally& row_of(const SentMessage& sent, bool data);
  void close_sender();

  const Run& run_;
  Last last_;
  ProcessId sender_;
  std::vector<Open> open_;
  std::vector<MessageTally> rows_;
  FlatMap row_of_;
};

}  // namespace culprit::replay
