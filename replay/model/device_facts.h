// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The data that replay stores about devices: on hosts, the calls that launch operations and those
// that wait for them; on streams, the operations. Numbers of operations and queues belong to the
// process.
#pragma once

#include <vector>

#include "base/column.h"
#include "base/ids.h"
#include "base/time.h"
#include "replay/model/calls.h"
#include "trace/events.h"

namespace culprit::replay {

/// A host's call that launches an operation.
struct DeviceLaunch {
  trace::OperationNumber operation;
  CallIndex call;
  uint32_t queue = 0;
  uint32_t first_after = 0, end_after = 0;  ///< in DeviceFacts::after: what it waits for
  trace::DeviceOpKind kind{};
};

/// A host's call that waits for a queue, a device or an operation.
struct DeviceWait {
  trace::OperationNumber operation;
  CallIndex call;
  uint32_t queue = 0;
  DeviceId device;
  trace::DeviceWaitFor what{};
};

/// The effect of a CUDA call, derived from its name.
enum class DeviceCall : uint8_t {
  none,
  launch,
  copy_in,   ///< to the device
  copy_out,  ///< from the device, and waits for it
  copy_out_async,
  other_work,  ///< gives a stream something that looks like what the above give it
  wait_device,
  wait_queue,
};

/// A host's launch, by its place in the list of its location.
struct LaunchRef {
  LocationId host;
  uint32_t launch = 0;
  bool valid() const { return host.valid(); }
};

/// An operation that a stream executes. Lists are in order of time and do not overlap.
struct DeviceOperation {
  Time begin, end;
  uint64_t bytes = 0;
  trace::OperationNumber operation;  ///< none: the archive does not number them
  RegionId region;
  CallPathId path;   ///< the region, below the call path of its launch
  LaunchRef launch;  ///< none: it is not known who launched it
  trace::DeviceOpKind kind{};
  trace::CopyDirection direction{};
  trace::HostMemory memory{};
};

/// Whether the device is busy with such an operation. Waits, marks and functions of the host only
/// keep their stream from going on.
constexpr bool keeps_device_busy(trace::DeviceOpKind kind) {
  using enum trace::DeviceOpKind;
  return kind != wait && kind != marker && kind != host && kind != release;
}

struct DeviceFacts {
  Column<DeviceLaunch> launches;
  std::vector<trace::OperationNumber> after;
  Column<DeviceWait> waits;
  std::vector<CallIndex> unknown_waits;  ///< long calls that wait, for what is not known; in order
  Column<DeviceOperation> operations;
};

}  // namespace culprit::replay
