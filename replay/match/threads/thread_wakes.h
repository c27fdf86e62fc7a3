// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Who let others go on: where threads woke objects that threads wait for. Most objects are a
// process's own; others (trace/objects.h) are the same for all processes of a node.
#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "replay/model/run.h"

namespace culprit::replay {

struct Wake {
  Time time;
  LocationId by;
  friend auto operator<=>(const Wake&, const Wake&) = default;
};

/// Of the objects of nodes, by the locations of all ranks.
class NodeWakes {
 public:
  /// Collective.
  explicit NodeWakes(const Run& run);

  /// In order of time; null: none.
  const std::vector<Wake>* of(ProcessId process, uint64_t object) const;

 private:
  std::vector<uint32_t> nodes_;  ///< by ProcessId
  std::map<std::pair<uint32_t, uint64_t>, std::vector<Wake>> wakes_;
};

/// Of all objects that threads of one process may wait for.
class ThreadWakes {
 public:
  /// `process` is one of this rank's. The wakes of nodes outlive this.
  ThreadWakes(const Run& run, ProcessId process, const NodeWakes& of_nodes);

  /// The last of an object by another thread than `waiter`, no later than `time`; null: none.
  const Wake* last(uint64_t object, Time time, LocationId waiter) const;

 private:
  const std::vector<Wake>* of(uint64_t object) const;

  ProcessId process_;
  const NodeWakes& of_nodes_;
  std::unordered_map<uint64_t, std::vector<Wake>> wakes_;
};

}  // namespace culprit::replay
