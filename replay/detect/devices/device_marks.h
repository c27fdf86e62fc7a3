// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What marks stand for that no stream shows: a recorded event is over when its queue has done what
// it had been given before. That is its last operation, and the operations of other queues that it
// had been told to wait for since.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/flat_map.h"
#include "replay/model/run.h"
#include "replay/read/join_device.h"

namespace culprit::replay {

/// Of one process. Calls of its threads are taken to have happened in the order of their enters.
class DeviceMarks {
 public:
  using Places = std::span<const OperationIndex::Place>;

  DeviceMarks() = default;
  DeviceMarks(const Run& run, const DeviceProcess& process, const OperationIndex& index);

  /// None: there is no such mark, or its queue is not known.
  std::optional<Places> of(trace::OperationNumber mark) const;
  /// Operations of other queues for which a queue waited, with nothing to execute after them, when
  /// a host began to wait for it; `wait`: the place among the host's waits.
  Places held(LocationId host, uint32_t wait) const;

 private:
  friend class MarkFinder;
  std::vector<OperationIndex::Place> places_;
  std::vector<std::pair<uint32_t, uint32_t>> marks_;  ///< parts of `places_`
  FlatMap mark_of_;                                   ///< index into them, by number
  std::map<std::pair<LocationId, uint32_t>, std::pair<uint32_t, uint32_t>> held_;
};

}  // namespace culprit::replay
