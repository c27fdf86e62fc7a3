// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The objects that processes of a node waited for, and the threads that let them go on: pipes,
// locks of files, the ends of processes and others that they all know by the same number
// (trace/objects.h). A wait counts only if a recorded thread ended it; wakes of objects that no
// thread waits for are dropped.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "assemble/raw/reader.h"
#include "assemble/run/accounts.h"
#include "assemble/run/clock.h"
#include "assemble/run/processes.h"
#include "base/time.h"

namespace culprit::assemble {

class NodeObjects {
 public:
  NodeObjects(const std::vector<RawProcessFolder>& folders,
              const std::vector<ProcessAccount>& accounts, const Processes& processes,
              const Clock& clock);

  /// Whether any thread on the node of this process (by folder) waited for it, and was let go on.
  bool is_awaited(size_t folder, uint64_t object) const;
  /// Whether a thread other than this one let waiting threads go on after `begin`, and not after
  /// `end`.
  bool was_let_go(size_t folder, uint32_t thread, uint64_t object, Time begin, Time end) const;

 private:
  struct Wake {
    Time time;
    size_t folder;
    uint32_t thread;
  };
  using Place = std::pair<size_t, uint64_t>;  ///< node, object

  void add(size_t folder, uint32_t thread, uint64_t object, Time time);

  std::vector<size_t> nodes_;                 ///< by folder
  std::map<Place, std::vector<Wake>> wakes_;  ///< for objects that were waited for, in order of
                                              ///< time
};

}  // namespace culprit::assemble
