// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Which sends, and which receives, of a process belong to one phase, so that a sweep can be
// distinguished from other messages between neighbors before and after it (set-up, a halo
// exchange), which programs send elsewhere in their code. So each call path is a separate phase,
// except two that alternate:
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
