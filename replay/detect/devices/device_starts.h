// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The facts that detectors of device waits have about one process: when each operation of its
// streams could begin, and which host or stream determined that time.
#pragma once

#include <vector>

#include "replay/detect/detection.h"
#include "replay/detect/devices/device_marks.h"
#include "replay/model/run.h"
#include "replay/read/device_busy.h"
#include "replay/read/join_device.h"

namespace culprit::replay {

/// What an operation waited for before it could begin.
struct Start {
  Time handed_over;  ///< enter of its launch, or of the call that let it go; its begin if unknown
  LocationId host;   ///< whose call that was; none: unknown
  CallIndex call;
  Time previous;        ///< when the stream had done what came before
  Time awaited;         ///< when other streams had done what it waits for; Time::min(): nothing
  LocationId waits_of;  ///< the last of these
  Time ready;           ///< it could begin; not later than its begin
};

/// An operation of another stream that an operation waits for.
struct AwaitedOther {
  uint32_t operation;  ///< that waits
  LocationId stream;   ///< of the other one
  Time end;            ///< of it
};

/// One process's streams. Refers to the run.
struct DeviceStarts {
  const Run& run;
  DeviceProcess process;
  OperationIndex index;
  DeviceMarks marks;
  std::vector<std::vector<Start>> starts;         ///< by position of the stream, by operation
  std::vector<std::vector<AwaitedOther>> others;  ///< likewise, all of each operation, in order
  bool guesses = false;  ///< it is not known of all operations who launched them

  const Column<DeviceOperation>& operations(size_t stream) const {
    return run.at(process.streams[stream]).device.operations;
  }
  const DeviceLaunch& launch_at(LocationId host, uint32_t index) const {
    return run.at(host).device.launches[index];
  }
  /// Visits the operations that an operation of this number is, or stands for. Returns whether that
  /// is known.
  template <class Visit>
  bool for_each_executed(trace::OperationNumber number, const Visit& visit) const {
    if (const auto place = index.executed(number)) {
      visit(*place);
      return true;
    }
    const auto places = marks.of(number);
    for (const OperationIndex::Place& place : places.value_or(DeviceMarks::Places())) visit(place);
    return places.has_value();
  }
  /// Returns the index of a stream among the process's streams.
  size_t position(LocationId stream) const;
  /// Returns the begin of the process, as it applies to this stream.
  Time born(LocationId stream) const;
};

DeviceStarts find_device_starts(const Run& run, ProcessId process);

/// The operations of stream `s` for which a host's call waits, unless it waits for one operation by
/// number: all before `end`; those from `first` on have not ended when the call is entered.
struct AwaitedOperations {
  size_t first = 0, end = 0;
};
AwaitedOperations awaited_operations(const DeviceStarts& of, LocationId host,
                                     const DeviceWait& wait, const Call& call, size_t s);

// The two sides of a process's devices. `busy`: by device, of all processes (devices_busy).
using DevicesBusy = std::vector<std::vector<DeviceBusy>>;
void detect_stream_waits(const DeviceStarts& process, const DevicesBusy& busy, Detection& out);
void detect_host_waits(const DeviceStarts& process, Detection& out);

}  // namespace culprit::replay
