// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Which messages carry little information, as far as can be judged without their contents:
//
//   empty     it has no data (0 bytes). It may still be a signal that its receiver waits for
//   repeated  it has data, and follows another one so closely that the two could have been one:
//             from the same thread and call path to the same one, on the same communicator and with
//             the same tag; the sender enters its call at most kAtOnce after it left the one
//             before, and so does the receiver, or it completes both in one call. Neither can have
//             made much of the time in between
#pragma once

#include <cstdint>
#include <vector>

#include "base/flat_map.h"
#include "replay/match/messages.h"
#include "replay/model/waits.h"

namespace culprit::replay {

/// The cost of a message itself on usual networks: a sender that sends the next one this soon had
/// it ready.
inline constexpr Duration kAtOnce = Duration::from_nanos(10'000);

/// Judges and counts the messages that one process received.
class MessageUse {
 public:
  explicit MessageUse(const Run& run) : run_(run) {}

  /// Messages of one sender come together, those of a channel in order (MessageVisitor).
  MessageKind add(const MatchedMessage& message, LocationId receiver, const Call& completed);
  /// Returns the tallies by call path and location of the sender.
  std::vector<MessageTally> take();

 private:
  struct Last {
    LocationId from, to;
    Call sent, completed;
    CommId comm;
    int32_t tag = 0;
  };
  /// A row of the current sender that is still open.
  struct Open {
    size_t row;
    bool data;
  };

  MessageKind kind_of(const MatchedMessage& message, const Last& now) const;
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
