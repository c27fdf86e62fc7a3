// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The sends, or the receives, of one process: by the process at the other end, each in the order in
// which they were posted.
#pragma once

#include <span>
#include <vector>

#include "base/column.h"
#include "replay/run.h"

namespace culprit::replay {

/// A send or receive: index into its location's.
struct OpRef {
  LocationId location;
  uint32_t op;
};

struct MessageEnds {
  std::vector<ProcessId> peers;  ///< ascending
  std::vector<size_t> first;     ///< by position in `peers`, and one more: into `ops`
  Column<OpRef> ops;
  uint64_t unknown = 0;  ///< ends whose peer the trace does not say; they are left out
  bool ordered = true;   ///< one thread posted them all: nothing can have overtaken

  std::span<const OpRef> of(size_t position) const {
    return {ops.begin() + first[position], ops.begin() + first[position + 1]};
  }
  std::span<const OpRef> with(ProcessId peer) const;
};

MessageEnds collect_ends(const Run& run, ProcessId process, bool is_send);

/// Which of these ends (of one channel) posts of other threads may have overtaken.
std::vector<bool> find_unordered(const Run& run, std::span<const OpRef> ends, bool is_send);

}  // namespace culprit::replay
