// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Records between a call's enter and its leave belong to that call. Numbers of queues are the
// process's.
#include "assemble/records/device_records.h"

#include <algorithm>
#include <string>

#include "assemble/records/asking.h"
#include "trace/device_calls.h"

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
  if (record.kind == RawKind::device_start_up) return start_up(record);
  if (record.kind == RawKind::device_polls) return polls(record);
}

uint32_t DeviceRecords::queue_of(uint32_t number) const {
  const auto queue = state_.process.devices.queue_index.find(number);
  return queue != state_.process.devices.queue_index.end() ? queue->second : trace::kNoDeviceQueue;
}

void DeviceRecords::launch(const RawRecord& record) {
  const auto told = record.as<raw::device_launch>();
  if (is_captured(trace::OperationNumber{told.operation})) return;
  launched_ = state_.time(record);
  launch_ = {trace::OperationNumber{told.operation},
             told.kind <= trace::kLastDeviceOpKind ? told.kind : trace::DeviceOpKind::other,
             queue_of(told.queue),
             {}};
  after_.clear();
  copied_ =
      told.kind == trace::DeviceOpKind::copy ? launch_->operation : trace::OperationNumber::none;
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

/// What the thread hands over while it captures a graph is not executed; to a stream that takes no
/// part in that it is.
bool DeviceRecords::is_captured(trace::OperationNumber operation) const {
  return captures_ &&
         !state_.process.devices.queue_of_operation.contains(static_cast<uint64_t>(operation));
}

void DeviceRecords::tell_launch() {
  if (!launch_) return;
  launch_->after = after_;
  tell_runtime_times();
  const Time time = state_.timeline.advance(launched_);
  state_.timeline.sink().device_launch(time, *launch_);
  if (room_ != trace::OperationNumber::none) {
    state_.timeline.sink().device_wait(
        time, {trace::DeviceWaitFor::operation, 0, DeviceId::none(), room_});
  }
  launch_.reset();
}

void DeviceRecords::tell_runtime_times() {
  room_ = trace::OperationNumber::none;
  const ProcessDevices& devices = state_.process.devices;
  const auto times = devices.runtime_times.find(static_cast<uint64_t>(launch_->operation));
  if (times == devices.runtime_times.end() || launch_->queue == trace::kNoDeviceQueue) return;
  const DeviceClock& clock = state_.process.device_clocks[devices.queues[launch_->queue].device];
  for (const RuntimeTime& time : times->second) {
    if (time.what == trace::RawDeviceTime::full_queue) {
      room_ = made_room(time);
    } else if (is_in_call()) {
      start_up(clock.time(time.begin), std::min(clock.time(time.end), launched_));
    }
  }
}

/// The last operation that its queue finished in that time. The record has only the end of the
/// host's wait, not its reason.
trace::OperationNumber DeviceRecords::made_room(const RuntimeTime& time) const {
  const DeviceOp* last = nullptr;
  for (const DeviceLane& lane : state_.process.devices.lanes) {
    if (lane.queue != launch_->queue) continue;
    const auto after =
        std::upper_bound(lane.ops.begin(), lane.ops.end(), time.end,
                         [](uint64_t end, const DeviceOp& op) { return end < op.end; });
    if (after == lane.ops.begin()) continue;
    const DeviceOp& op = *(after - 1);
    if (op.end > time.begin && (last == nullptr || op.end > last->end)) last = &op;
  }
  return last != nullptr ? last->number : trace::OperationNumber::none;
}

const DeviceCall* DeviceRecords::recorded(uint64_t number) const {
  const auto call = state_.process.devices.calls.find(number);
  return call != state_.process.devices.calls.end() ? &call->second : nullptr;
}

/// Counts whether the object of a call's wait is known; `confirmed`: the runtime's record agrees.
void DeviceRecords::judged(bool is_known, bool confirmed) {
  if (!is_known) {
    state_.losses.add(LossKind::device_waits_unknown);
  } else if (!confirmed) {
    state_.losses.add(LossKind::device_waits_by_name);
  }
}

/// By the call's name. Some versions of CUPTI have no record of it, or one of another type.
bool DeviceRecords::waits_for_device(const raw::device_wait& told, trace::DeviceWait& wait) {
  const auto device = state_.process.devices.device_index.find(told.place);
  if (device != state_.process.devices.device_index.end()) {
    wait.device = state_.process.device_ids[device->second];
  }
  if (told.number == 0) return true;
  const DeviceCall* const call = recorded(told.number);
  const bool confirmed =
      call != nullptr && call->what == trace::RawDevicePoint::host_waits_for_device;
  judged(true, confirmed);
  return true;
}

/// By the call's name; if the call does not name the queue, the runtime's record must.
bool DeviceRecords::waits_for_queue(const raw::device_wait& told, trace::DeviceWait& wait) {
  wait.queue = queue_of(told.place);
  if (wait.queue != trace::kNoDeviceQueue || told.number == 0) return true;
  const DeviceCall* const call = recorded(told.number);
  if (call != nullptr) wait.queue = call->queue;
  const bool is_known =
      wait.queue != trace::kNoDeviceQueue || state_.process.devices.lanes.size() == 1;
  const bool confirmed =
      call != nullptr && call->what == trace::RawDevicePoint::host_waits_for_queue;
  judged(is_known, confirmed);
  return true;
}

/// Its own operation, by number; or a runtime's own number for a call that waits for an event,
/// whose recording its record tells. An event that was never recorded is not waited for.
bool DeviceRecords::waits_for_operation(const raw::device_wait& told, trace::DeviceWait& wait) {
  wait.operation = trace::OperationNumber{told.number};
  if (const DeviceCall* const call = recorded(told.number)) {
    wait.operation = call->recording;
    const bool confirmed = call->what == trace::RawDevicePoint::host_waits_for_event;
    const bool is_known = call->recording != trace::OperationNumber::none;
    judged(is_known || confirmed, confirmed);
    return is_known;
  }
  const bool is_own_number = told.number > UINT32_MAX;
  if (is_own_number || state_.process.devices.queue_of_operation.contains(told.number)) return true;
  judged(false, false);
  return false;
}

void DeviceRecords::wait(const RawRecord& record) {
  const auto told = record.as<raw::device_wait>();
  if (told.what > trace::kLastDeviceWaitFor) return;
  copied_ = trace::OperationNumber::none;
  trace::DeviceWait wait;
  wait.what = told.what;
  const bool known = wait.what == trace::DeviceWaitFor::operation ? waits_for_operation(told, wait)
                     : wait.what == trace::DeviceWaitFor::queue   ? waits_for_queue(told, wait)
                                                                  : waits_for_device(told, wait);
  if (!known) return;
  const Time time = state_.timeline.advance(state_.time(record));
  state_.timeline.sink().device_wait(time, wait);
}

const DeviceRecords::Call& DeviceRecords::call(uint16_t name) {
  const auto [known, added] = calls_.try_emplace(name);
  if (added) {
    const auto text = state_.names.find(name);
    const std::string function = text != state_.names.end() ? text->second : "device runtime";
    known->second = {state_.process.regions.device_call(function),
                     is_device_call(function, trace::DeviceTrait::begins_capture),
                     is_device_call(function, trace::DeviceTrait::ends_capture)};
  }
  return known->second;
}

void DeviceRecords::enter(const RawRecord& record) {
  const auto entered = record.as<raw::device_enter>();
  copied_ = trace::OperationNumber::none;
  const Call& entered_call = call(entered.name);
  captures_ = (captures_ || entered_call.begins_capture) && !entered_call.ends_capture;
  const Time time = state_.time(record);
  entered_ = since_.value_or(time);
  if (since_) state_.timeline.drop_samples(entered_);
  state_.observe_call(entered_, entered.path);
  state_.timeline.enter(entered_, Level::call, entered_call.region, kDeviceCalls | entered.name);
  if (since_) start_up(entered_, time);
  since_.reset();
}

void DeviceRecords::polls(const RawRecord& record) {
  Timeline& timeline = state_.timeline;
  const auto polls = record.as<raw::device_polls>();
  const Time first = state_.time(record);
  const Duration inside = state_.process.time(record.ticks + polls.inside) - first;
  const auto [begin, end] =
      time_of_asking(first, state_.process.time(polls.until), inside, polls.count);
  timeline.drop_samples(begin);
  state_.observe_call(begin, polls.path);
  timeline.enter(begin, Level::call, call(polls.name).region, kDeviceCalls | polls.name);
  trace::DeviceWait wait;
  wait.queue = polls.queue <= UINT32_MAX ? queue_of(static_cast<uint32_t>(polls.queue))
                                         : trace::kNoDeviceQueue;
  wait.operation = trace::OperationNumber{polls.number};
  wait.what = polls.number != 0 ? trace::DeviceWaitFor::operation : trace::DeviceWaitFor::queue;
  const bool is_known = polls.number != 0 || wait.queue != trace::kNoDeviceQueue ||
                        state_.process.devices.lanes.size() == 1;
  judged(is_known, true);
  timeline.sink().device_wait(timeline.advance(begin), wait);
  timeline.leave(end, timeline.stack().size() - 1);
}

void DeviceRecords::start_up(const RawRecord& record) {
  const uint64_t since = record.as<raw::device_start_up>().since;
  if (since != 0) {
    since_ = state_.process.time(since);
  } else if (is_in_call()) {
    start_up(entered_, state_.time(record));
  }
}

void DeviceRecords::start_up(Time begin, Time end) {
  Timeline& timeline = state_.timeline;
  begin = std::max(begin, timeline.last());
  if (begin >= end) return;
  const size_t depth = timeline.stack().size();
  timeline.enter(begin, Level::call, state_.process.regions.device_start_up(paradigm_of_calls()));
  timeline.leave(end, depth);
}

trace::Paradigm DeviceRecords::paradigm_of_calls() const {
  const auto& devices = state_.process.devices.devices;
  return devices.empty() ? trace::Paradigm::unknown : trace::text(devices[0].api).paradigm;
}

bool DeviceRecords::is_in_call() const {
  const auto& stack = state_.timeline.stack();
  const size_t depth = state_.timeline.innermost();
  return depth != Timeline::npos && stack[depth].level == Level::call &&
         (stack[depth].id & kDeviceCalls) != 0;
}

/// A call that returns at once must read memory that the system may move itself, so it returns when
/// it is done: for much memory that is when the device has it.
bool DeviceRecords::waited_for_copy(Time left) const {
  constexpr Duration kAtOnce = Duration::from_nanos(20'000);
  const ProcessDevices& devices = state_.process.devices;
  const auto number = static_cast<uint64_t>(copied_);
  const auto copy = devices.pageable_copies.find(number);
  const auto queue = devices.queue_of_operation.find(number);
  if (copy == devices.pageable_copies.end() || queue == devices.queue_of_operation.end()) {
    return false;
  }
  const DeviceClock& clock = state_.process.device_clocks[devices.queues[queue->second].device];
  return clock.time(copy->second) <= left + kAtOnce;
}

void DeviceRecords::leave(const RawRecord& record) {
  const auto& stack = state_.timeline.stack();
  const size_t depth = state_.timeline.innermost();
  const uint64_t id = kDeviceCalls | record.as<raw::device_leave>().name;
  if (!is_in_call() || stack[depth].id != id) return;
  const Time left = state_.time(record);
  if (copied_ != trace::OperationNumber::none && waited_for_copy(left)) {
    state_.timeline.sink().device_wait(
        state_.timeline.advance(left),
        {trace::DeviceWaitFor::operation, 0, DeviceId::none(), copied_});
  }
  copied_ = trace::OperationNumber::none;
  state_.timeline.leave(left, depth);
}

/// No record has the return of calls that were under way when the observation ended.
void DeviceRecords::finish() {
  const uint64_t left = state_.process.devices.left_ticks;
  if (left == 0 || !is_in_call()) return;
  const Time time = std::max(state_.process.time(left), state_.timeline.last());
  state_.timeline.leave(time, state_.timeline.innermost());
}

}  // namespace culprit::assemble
