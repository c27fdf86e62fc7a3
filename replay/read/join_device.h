// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Which call launched which operation, process by process. Recorded numbers decide where there are
// any. Without numbers, order and time decide for processes of one stream, if the result is certain
// (in_order.h), for each kind of calls (launches, copies to the device, copies from it). Unmatched
// items are counted: operations with an unknown launch, and calls whose operation is not in the
// trace.
#pragma once

#include <optional>
#include <vector>

#include "base/flat_map.h"
#include "replay/model/run.h"

namespace culprit::replay {

/// The devices' part of a process: its hosts and streams that have events, each in order.
struct DeviceProcess {
  DeviceProcess(const Run& run, ProcessId process);
  std::vector<LocationId> hosts, streams;
};

/// A process's operations and launches by number.
class OperationIndex {
 public:
  struct Place {
    LocationId location;
    uint32_t index;  ///< in the location's list
  };
  OperationIndex(const Run& run, const DeviceProcess& process);

  std::optional<Place> executed(trace::OperationNumber operation) const {
    return find(operations_, operation_of_, operation);
  }
  std::optional<Place> launched(trace::OperationNumber operation) const {
    return find(launches_, launch_of_, operation);
  }

 private:
  static std::optional<Place> find(const std::vector<Place>& places, const FlatMap& index,
                                   trace::OperationNumber operation);
  std::vector<Place> operations_, launches_;
  FlatMap operation_of_, launch_of_;  // index into them
};

/// Before call paths are joined; waits for an operation of the caller's own get its number here.
void join_device(Run& run, unsigned threads);

}  // namespace culprit::replay
