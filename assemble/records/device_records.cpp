// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "assemble/records/device_records.h"

namespace culprit::assemble {
namespace {

using trace::RawKind;

/// Ids of calls on the timeline's stack: apart from those of OpenMP's on the same level.
constexpr uint64_t kDeviceCalls = uint64_t{1} << 48;

}  // namespace

void DeviceRecords::see(const RawRecord& record) {
  if (record.kind == RawKind::device_after) {
    for (unsigned i = 0; i < record.words; ++i) {
      after_.push_back(trace::OperationNumber{record.w[i]});
    }
    return;
  }
  tell_launch();
  if (record.kind == RawKind::device_enter) return enter(record);
  if (record.kind == RawKind::device_leave) return leave(record);
  if (record.kind == RawKind::device_launch) return launch(record);
  if (record.kind == RawKind::device_wait) return wait(record);
}

uint32_t DeviceRecords::queue_of(const RawRecord& record) const {
  const auto queue = state_.process.devices.queue_index.find(record.arg);
  return queue != state_.process.devices.queue_index.end() ? queue->second : trace::kNoDeviceQueue;
}

void DeviceRecords::launch(const RawRecord& record) {
  launched_ = state_.time(record);
  launch_ = {trace::OperationNumber{record.w[0]},
             record.flags <= static_cast<uint16_t>(trace::kLastDeviceOpKind)
                 ? static_cast<trace::DeviceOpKind>(record.flags)
                 : trace::DeviceOpKind::other,
             queue_of(record),
             {}};
  after_.clear();
  const ProcessDevices& devices = state_.process.devices;
  const auto queue = devices.queue_of_operation.find(record.w[0]);
  if (launch_->queue == trace::kNoDeviceQueue && queue != devices.queue_of_operation.end()) {
    launch_->queue = queue->second;
  }
  const auto call = devices.calls.find(record.w[0]);
  if (call != devices.calls.end() && call->second.recording != trace::OperationNumber::none) {
    after_.push_back(call->second.recording);
  }
}

void DeviceRecords::tell_launch() {
  if (!launch_) return;
  launch_->after = after_;
  const Time time = state_.timeline.advance(launched_);
  state_.timeline.sink().device_launch(time, *launch_);
  launch_.reset();
}

/// For what a call waited, as the runtime tells it; false if that is not known.
bool DeviceRecords::told_by(const DeviceCall& call, trace::DeviceWait& wait) const {
  switch (call.what) {
    case trace::RawDevicePoint::host_waits_for_event:
      wait.operation = call.recording;
      return call.recording != trace::OperationNumber::none;
    case trace::RawDevicePoint::host_waits_for_queue:
      wait = {trace::DeviceWaitFor::queue, call.queue, DeviceId::none(), {}};
      return true;
    case trace::RawDevicePoint::host_waits_for_device:
      wait = {trace::DeviceWaitFor::device, 0, state_.process.device_ids[call.device], {}};
      return true;
    default:
      return false;
  }
}

void DeviceRecords::wait(const RawRecord& record) {
  trace::DeviceWait wait;
  if (record.flags > static_cast<uint16_t>(trace::kLastDeviceWaitFor)) return;
  wait.what = static_cast<trace::DeviceWaitFor>(record.flags);
  if (wait.what == trace::DeviceWaitFor::operation) {
    wait.operation = trace::OperationNumber{record.w[0]};
    const auto call = state_.process.devices.calls.find(record.w[0]);
    const bool told = call != state_.process.devices.calls.end();
    if (told && !told_by(call->second, wait)) return;
    // A runtime's own number, of which it told nothing else.
    const auto& known = state_.process.devices.queue_of_operation;
    if (!told && record.w[0] <= UINT32_MAX && !known.contains(record.w[0])) return;
  } else if (wait.what == trace::DeviceWaitFor::queue) {
    wait.queue = queue_of(record);
  } else {
    const auto device = state_.process.devices.device_index.find(record.arg);
    if (device != state_.process.devices.device_index.end()) {
      wait.device = state_.process.device_ids[device->second];
    }
  }
  const Time time = state_.timeline.advance(state_.time(record));
  state_.timeline.sink().device_wait(time, wait);
}

RegionId DeviceRecords::call(uint16_t name) {
  const auto [known, added] = calls_.try_emplace(name);
  if (added) {
    const auto text = state_.names.find(name);
    known->second = state_.process.regions.device_call(
        text != state_.names.end() ? text->second : "device runtime");
  }
  return known->second;
}

void DeviceRecords::enter(const RawRecord& record) {
  const Time time = state_.time(record);
  state_.observe(time, record.arg);
  state_.timeline.enter(time, Level::call, call(record.flags), kDeviceCalls | record.flags);
}

void DeviceRecords::leave(const RawRecord& record) {
  const auto& stack = state_.timeline.stack();
  const size_t depth = state_.timeline.innermost();
  const bool open = depth != Timeline::npos && stack[depth].level == Level::call &&
                    stack[depth].id == (kDeviceCalls | record.flags);
  if (open) state_.timeline.leave(state_.time(record), depth);
}

}  // namespace culprit::assemble
