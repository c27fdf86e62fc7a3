// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// An operation is open from its begin to its end, and one at a time; its event fills it in.
#include "replay/read/stream_builder.h"

#include <algorithm>

namespace culprit::replay {

using trace::DeviceOpKind;
using trace::RegionRole;

/// An operation that begins ends the one before: streams execute one at a time.
void StreamBuilder::begin(Time time, RegionId region, DeviceOpKind kind) {
  end(time);
  if (line_.events > 0) time = std::max(time, line_.last);
  if (line_.events++ == 0) line_.first = time;
  DeviceOperation operation{};
  operation.begin = operation.end = time;
  operation.region = region;
  operation.kind = kind;
  line_.device.operations.push_back(operation);
  line_.last = time;
  open_ = true;
}

void StreamBuilder::end(Time time) {
  if (!open_) return;
  open_ = copying_ = false;
  ++line_.events;
  line_.device.operations.back().end = line_.last = std::max(time, line_.last);
}

/// Time that other tools mark as idle, and their own buffers' flushes, are no operations.
void StreamBuilder::enter(Time time, RegionId region) {
  if (depth_++ > 0) return;
  const RegionRole role = regions_[region.index()].role;
  if (role == RegionRole::artificial) return;
  begin(time, region,
        role == RegionRole::data_transfer ? DeviceOpKind::copy
        : role == RegionRole::barrier     ? DeviceOpKind::wait
                                          : DeviceOpKind::kernel);
}

void StreamBuilder::leave(Time time, RegionId) {
  if (depth_ == 0 || --depth_ > 0) return;
  end(time);
}

void StreamBuilder::device_operation(Time, const trace::DeviceOperation& told) {
  if (!open_) return;
  DeviceOperation& operation = line_.device.operations.back();
  operation.operation = told.operation;
  operation.kind = told.kind;
  operation.direction = told.direction;
  operation.memory = told.memory;
  operation.bytes = told.bytes;
}

/// A get by the device from the host's memory is a copy to the device.
void StreamBuilder::rma_operation(Time time, const trace::RmaOperation& what) {
  const bool gets = what.op == trace::RmaOp::get;
  begin(time, gets ? copies_.to_device : copies_.from_device, DeviceOpKind::copy);
  copying_ = true;
  DeviceOperation& operation = line_.device.operations.back();
  operation.direction = gets ? trace::CopyDirection::to_device : trace::CopyDirection::from_device;
  operation.bytes = std::max(what.bytes_sent, what.bytes_received);
}

void StreamBuilder::rma_complete(Time time, WindowId, trace::RmaOpId, trace::RmaCompletion) {
  if (copying_) end(time);
}

Timeline StreamBuilder::take() {
  if (!line_.device.operations.empty()) end(line_.last);
  return std::move(line_);
}

}  // namespace culprit::replay
