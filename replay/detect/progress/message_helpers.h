// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Of messages: whose progress either side may have needed, where the other has begun its part
// without waiting for it, and is not through yet.
#pragma once

#include "replay/detect/detection.h"
#include "replay/match/messages.h"

namespace culprit::replay {

/// Those that one process received.
class MessageHelpers {
 public:
  MessageHelpers(const Run& run, ProcessId process, Detection& out, Outbox& others)
      : run_(run), process_(process), out_(out), others_(others) {}

  /// `asked`: since when its receiver has tested for it; Time::max(): not at all.
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
