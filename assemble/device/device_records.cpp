// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What is told between a call's enter and its leave belongs to that call. Numbers of queues are the
// process's.
#include "assemble/device/device_records.h"

namespace culprit::assemble {
namespace {

using trace::RawKind;

/// Ids of calls on the timeline's stack: apart from those of OpenMP's on the same level.
constexpr uint64_t kDeviceCalls = uint64_t{1} << 48;

}  // namespace

void DeviceRecords::see(const RawRecord& record) {
  if (record.kind == RawKind::device_after) {
    for (const uint64_t operation : record.rest_of<raw::device_after>()) {
      after_.push_back(trace::OperationNumber{operation});
    }
    return;
  }
  tell_launch();
  if (record.kind == RawKind::device_enter) return enter(record);
  if (record.kind == RawKind::device_leave) return leave(record);
  if (record.kind == RawKind::device_launch) return launch(record);
  if (record.kind == RawKind::device_wait) return wait(record);
}

uint32_t DeviceRecords::queue_of(uint32_t number) const {
  const auto queue = state_.process.devices.queue_index.find(number);
  return queue != state_.process.devices.queue_index.end() ? queue->second : trace::kNoDeviceQueue;
}

void DeviceRecords::launch(const RawRecord& record) {
  const auto told = record.as<raw::device_launch>();
  launched_ = state_.time(record);
  launch_ = {trace::OperationNumber{told.operation},
             told.kind <= trace::kLastDeviceOpKind ? told.kind : trace::DeviceOpKind::other,
             queue_of(told.queue),
             {}};
  after_.clear();
  const ProcessDevices& devices = state_.process.devices;
  const auto queue = devices.queue_of_operation.find(told.operation);
  if (launch_->queue == trace::kNoDeviceQueue && queue != devices.queue_of_operation.end()) {
    launch_->queue = queue->second;
  }
  const auto call = devices.calls.find(told.operation);
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
  const auto told = record.as<raw::device_wait>();
  if (told.what > trace::kLastDeviceWaitFor) return;
  trace::DeviceWait wait;
  wait.what = told.what;
  if (wait.what == trace::DeviceWaitFor::operation) {
    wait.operation = trace::OperationNumber{told.number};
    const auto call = state_.process.devices.calls.find(told.number);
    const bool is_told = call != state_.process.devices.calls.end();
    if (is_told && !told_by(call->second, wait)) return;
    // A runtime's own number, of which it told nothing else.
    const auto& known = state_.process.devices.queue_of_operation;
    if (!is_told && told.number <= UINT32_MAX && !known.contains(told.number)) return;
  } else if (wait.what == trace::DeviceWaitFor::queue) {
    wait.queue = queue_of(told.place);
  } else {
    const auto device = state_.process.devices.device_index.find(told.place);
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
  const auto entered = record.as<raw::device_enter>();
  const Time time = state_.time(record);
  state_.observe(time, entered.path);
  state_.timeline.enter(time, Level::call, call(entered.name), kDeviceCalls | entered.name);
}

void DeviceRecords::leave(const RawRecord& record) {
  const auto& stack = state_.timeline.stack();
  const size_t depth = state_.timeline.innermost();
  const bool open = depth != Timeline::npos && stack[depth].level == Level::call &&
                    stack[depth].id == (kDeviceCalls | record.as<raw::device_leave>().name);
  if (open) state_.timeline.leave(state_.time(record), depth);
}

}  // namespace culprit::assemble
