// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Which sends, and which receives, of a process are one piece of work, so that a sweep can be told
// from what neighbors tell each other before and after it (set-up, a halo exchange), which programs
// do elsewhere in their code. So each call path is a phase of its own, but for two that change off:
//
//   with one neighbor   at least as often as either is called: two messages for one block
//   with different ones at least as often as the rarer one is called: one for each dimension
#pragma once

#include "base/flat_map.h"
#include "replay/model/run.h"

namespace culprit::replay {

class SweepPhases {
 public:
  SweepPhases(const Run& run, ProcessId process);

  /// Of operations on the same side (sends, receives) the same number means the same phase.
  uint32_t of(const Run& run, LocationId location, const MessageOp& op) const;

 private:
  FlatMap phases_;  // by call path; empty: there is one phase
};

}  // namespace culprit::replay
