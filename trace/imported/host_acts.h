// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What calls of a process's threads do to its devices: hand over operations, and wait. Operations
// are numbered here. What a call waits for is what the tool has recorded of it; where it has
// recorded nothing, the call's name says it (device_calls.def), as far as a name can.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "trace/events.h"
#include "trace/imported/process.h"

namespace culprit::trace {

/// A queue's operations on lanes, and what they are numbered.
struct ImportedQueue {
  QueueKey key;
  std::vector<std::vector<ImportedOperation>> lanes;
  std::vector<std::vector<OperationNumber>> numbers;  ///< likewise
};

/// By correlation: what a call hands over, and what it waits for.
class HostActs {
 public:
  /// Numbers the operations of `queues`, whose positions are the numbers of queues.
  HostActs(const ImportedProcess& process, std::vector<ImportedQueue>& queues);

  /// What the call does, inside it at `time`.
  void play(const ImportedCall& call, Time time, EventSink& sink) const;

 private:
  struct Launch {
    uint64_t correlation;
    OperationNumber number;
    DeviceOpKind kind;
    uint32_t queue;
    OperationNumber after;  ///< none: of nothing but its queue
    bool waited_for;        ///< the call returns when it is done
    friend bool operator<(const Launch& a, const Launch& b) {
      return std::pair(a.correlation, a.number) < std::pair(b.correlation, b.number);
    }
  };
  struct Wait {
    uint64_t correlation;
    DeviceWait wait;
    friend bool operator<(const Wait& a, const Wait& b) { return a.correlation < b.correlation; }
  };

  /// By the name of a call.
  struct Meaning {
    bool copies = false;
    bool waits = false;
    DeviceWaitFor what = DeviceWaitFor::queue;
  };

  static Meaning meaning_of(std::string_view function);
  void number_operations(std::vector<ImportedQueue>& queues);
  void take_syncs(const ImportedProcess& process, const std::vector<ImportedQueue>& queues);
  /// `recorded`: none if the event's recording is unknown; the number none: nothing was before it.
  void take_sync(const ImportedSync& sync, uint32_t queue, std::optional<OperationNumber> recorded);
  DeviceWait wait_of(const ImportedCall& call, const Meaning& meaning) const;
  std::span<const Launch> launches_of(uint64_t correlation) const;

  const uint32_t no_queue_;        ///< a number that no queue has: there is nothing to wait for
  std::vector<Meaning> meanings_;  ///< by the process's region
  uint64_t numbers_ = 0;
  std::vector<Launch> launches_;  ///< sorted
  std::vector<Wait> waits_;       ///< sorted
};

}  // namespace culprit::trace
