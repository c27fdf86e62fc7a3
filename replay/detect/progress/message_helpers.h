// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Whose progress either side of a message may have needed: where the other side has begun its part
// without waiting for it, and has not completed it yet.
#pragma once

#include "replay/detect/detection.h"
#include "replay/match/messages.h"

namespace culprit::replay {

/// Judges the messages that one process received.
class MessageHelpers {
 public:
  MessageHelpers(const Run& run, ProcessId process, Detection& out, Outbox& others)
      : run_(run), process_(process), out_(out), others_(others) {}

  /// `asked`: when its receiver first tested for it; Time::max(): never.
  void visit(const MatchedMessage& message, Time asked);
  const ProgressEvidence& evidence() const { return evidence_; }

 private:
  ProgressClass kind_of(const MatchedMessage& message) const;
  void note(const Assisted& one);

  const Run& run_;
  const ProcessId process_;
  Detection& out_;
  Outbox& others_;  ///< for locations of other processes
  ProgressEvidence evidence_;
};

}  // namespace culprit::replay
