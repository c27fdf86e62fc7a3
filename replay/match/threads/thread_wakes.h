// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Wakes: where threads released the waiters of an object. Most objects belong to one process;
// others (trace/objects.h) are shared by all processes of a node.
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

/// The wakes of node-wide objects, by the locations of all ranks.
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

/// The wakes of all objects that threads of one process may wait for.
class ThreadWakes {
 public:
  /// `process` is one of this rank's. The wakes of nodes outlive this.
  ThreadWakes(const Run& run, ProcessId process, const NodeWakes& of_nodes);

  /// Returns the last wake of an object by another thread than `waiter`, no later than `time`;
  /// null: none.
  const Wake* last(uint64_t object, Time time, LocationId waiter) const;

 private:
  const std::vector<Wake>* of(uint64_t object) const;

  ProcessId process_;
  const NodeWakes& of_nodes_;
  std::unordered_map<uint64_t, std::vector<Wake>> wakes_;
};

}  // namespace culprit::replay
