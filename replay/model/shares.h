// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Which analysis rank owns which of the trace's processes. The owner reads a process's locations,
// stores their timelines, and explains their waits and the waits that they cause. Shares are ranges
// of consecutive processes: those that the ranks have opened, or else with about equally many
// events. All ranks compute the same. With more ranks than processes some own none.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "base/ids.h"
#include "trace/definitions.h"
#include "trace/source.h"

namespace culprit::replay {

class Shares {
 public:
  /// One rank owns all.
  Shares() = default;
  Shares(const trace::Definitions& definitions, size_t ranks);
  /// As the ranks have opened it, if they have.
  static Shares of(const trace::Source& source, size_t ranks);

  size_t owner(ProcessId process) const {
    return static_cast<size_t>(std::upper_bound(first_.begin(), first_.end(), process) -
                               first_.begin());
  }

 private:
  std::vector<ProcessId> first_;  // of rank 1, 2, ...
};

}  // namespace culprit::replay
