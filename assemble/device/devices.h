// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The activity of one process's devices: its log of no thread (trace/raw/raw.h, device_*), in which
// records are in the order in which they became known. It becomes lanes, each with operations that
// follow each other in time: one lane for a queue, and more where its operations overlapped.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "assemble/raw/reader.h"
#include "base/losses.h"
#include "trace/device.h"

namespace culprit::assemble {

struct DeviceOp {
  trace::OperationNumber number = trace::OperationNumber::none;
  uint64_t begin = 0;  ///< nanoseconds of the device's clock, as all times here
  uint64_t end = 0;
  uint64_t queued = 0;     ///< 0: unknown
  uint64_t submitted = 0;  ///< 0: unknown
  uint64_t bytes = 0;
  uint32_t name = 0;  ///< 0: none
  uint32_t graph_node = 0;
  trace::DeviceOpKind kind = trace::DeviceOpKind::other;
  trace::CopyDirection direction = trace::CopyDirection::none;
  trace::HostMemory memory = trace::HostMemory::unknown;
};

/// A moment of a device's clock, between two of ours.
struct DeviceMoment {
  uint64_t nanoseconds = 0;
  uint64_t ticks_at_least = 0;
  uint64_t ticks_at_most = 0;
};

struct RecordedDevice {
  trace::DeviceApi api{};
  std::string name;
  std::string identity;  ///< alike in all processes of its node
  std::vector<DeviceMoment> moments;
};

struct DeviceQueue {
  uint32_t device = 0;
  uint32_t context = 0;
  uint64_t number = 0;  ///< as the runtime numbers it
  bool out_of_order = false;
};

struct DeviceLane {
  uint32_t queue = 0;
  uint32_t place = 0;         ///< among the lanes of its queue
  std::vector<DeviceOp> ops;  ///< in order of time
};

/// The operation or wait of a call, as the runtime's own record of it says.
struct DeviceCall {
  trace::RawDevicePoint what = trace::RawDevicePoint::event_recorded;
  uint32_t queue = trace::kNoDeviceQueue;                           ///< index, if the record has it
  trace::OperationNumber recording = trace::OperationNumber::none;  ///< of the event waited for
};

/// Time that the runtime took on the host while an operation was handed over.
struct RuntimeTime {
  trace::RawDeviceTime what = trace::RawDeviceTime::tools;
  uint64_t begin = 0;  ///< nanoseconds of the device's clock
  uint64_t end = 0;
};

struct ProcessDevices {
  uint64_t begun_ticks = 0;  ///< when a runtime that is observed could first be used;
                             ///< 0: never
  uint64_t left_ticks = 0;   ///< when the observation ended, since the program wanted the
                             ///< runtime's tools interface for itself; 0: it did not
  std::vector<RecordedDevice> devices;
  std::vector<DeviceQueue> queues;
  std::vector<DeviceLane> lanes;
  std::unordered_map<uint32_t, std::string> names;
  std::unordered_map<uint32_t, uint32_t> device_index;  ///< in `devices`, by number in records
  std::unordered_map<uint32_t, uint32_t> queue_index;   ///< in `queues`, likewise
  /// For runtimes that report queues and waits on the device's side only: the queue by number of
  /// operation.
  std::unordered_map<uint64_t, uint32_t> queue_of_operation;
  std::unordered_map<uint64_t, DeviceCall> calls;
  /// Copies to or from memory that the system may move, by number of operation: when they ended,
  /// by the device's clock.
  std::unordered_map<uint64_t, uint64_t> pageable_copies;
  uint64_t overhead_ns = 0;  ///< work of the runtime for the sake of tools
  /// The rest that it took, by number of operation.
  std::unordered_map<uint64_t, std::vector<RuntimeTime>> runtime_times;
  std::vector<std::string> refusals;  ///< sentences: runtimes that are not observed
};

/// Reads all such logs of a process, one for each device runtime that it uses. Records that make no
/// sense are left out and counted.
ProcessDevices read_devices(const std::vector<RawLog>& logs, Losses& losses);

}  // namespace culprit::assemble
