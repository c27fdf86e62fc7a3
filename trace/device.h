// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The operations of devices and the waits of hosts, in vendor-neutral terms. Raw records and
// archives hold these numbers, so none may change. An operation is submitted by a host to a queue
// (CUDA's stream): it has a number that is unique in its process, on the host's side and on the
// device's.
#pragma once

#include <cstdint>

namespace culprit::trace {

enum class DeviceOpKind : uint8_t {
  kernel = 0,
  copy = 1,
  fill = 2,     ///< memory is set to a value
  map = 3,      ///< memory of the device appears in the host's, or goes back from there
  migrate = 4,  ///< pages move on demand, or before it
  wait = 5,     ///< the queue waits for operations of others
  marker = 6,   ///< nothing but a point in the queue's order: marker, barrier, recorded event
  graph = 7,    ///< all of a graph's operations, recorded as one
  host = 8,     ///< a function of the program that the queue calls
  release = 9,  ///< the host lets operations go that wait for it (clSetUserEventStatus)
  other = 10,
};
inline constexpr DeviceOpKind kLastDeviceOpKind = DeviceOpKind::other;

enum class CopyDirection : uint8_t {
  none = 0,
  to_device = 1,
  from_device = 2,
  within_device = 3,
  between_devices = 4,
  within_host = 5,
};
inline constexpr CopyDirection kLastCopyDirection = CopyDirection::within_host;

/// The host's side of a copy. Copies of pageable memory keep the host busy or waiting.
enum class HostMemory : uint8_t { unknown = 0, pageable = 1, pinned = 2, managed = 3 };
inline constexpr HostMemory kLastHostMemory = HostMemory::managed;

/// The object that a host's call waits for.
enum class DeviceWaitFor : uint8_t {
  operation = 0,  ///< one operation, by number
  queue = 1,      ///< all that was handed over to a queue before
  device = 2,     ///< all that was handed over to a device before
};
inline constexpr DeviceWaitFor kLastDeviceWaitFor = DeviceWaitFor::device;

/// The queue of an operation for which the host's call gives none, or which has none.
inline constexpr uint32_t kNoDeviceQueue = ~uint32_t{0};

/// Unique in the process; on both sides the same.
enum class OperationNumber : uint64_t { none = 0 };

}  // namespace culprit::trace
