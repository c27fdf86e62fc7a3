// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Waits of hosts: a host in a call that waits for devices is waiting while an awaited operation
// could run. Clocks of host and device agree to a microsecond or so; nothing here relies on more.
#include <algorithm>

#include "replay/detect/devices/device_starts.h"

namespace culprit::replay {

namespace {

using trace::DeviceOpKind;
using trace::DeviceWaitFor;

struct Awaited {
  Time since = Time::max();  ///< something could run
  Time until = Time::min();
  LocationId stream;  ///< the last to end
  bool own = false;   ///< only what the call itself handed over: that is never done already
  bool blocking_copy = false;
};

/// Returns whether it is known for which streams, or for which operation, a call waits. With a
/// single stream, it is that one.
bool is_known(const DeviceStarts& of, const DeviceWait& wait) {
  if (wait.what == DeviceWaitFor::operation) {
    return of.for_each_executed(wait.operation, [](const OperationIndex::Place&) {});
  }
  return wait.what != DeviceWaitFor::queue || wait.queue != trace::kNoDeviceQueue ||
         of.process.streams.size() == 1;
}

bool is_waited_for(const DeviceStarts& of, const DeviceWait& wait, size_t s) {
  const trace::Location& stream = of.run.location(of.process.streams[s]);
  if (wait.what == DeviceWaitFor::queue) {
    if (wait.queue == trace::kNoDeviceQueue) return is_known(of, wait);
    return stream.queue == wait.queue;
  }
  return !wait.device.valid() || stream.device == wait.device;
}

/// Returns the stream's first operation that has not ended at `time`, at most `end`.
size_t first_pending(const DeviceStarts& of, size_t s, Time time, size_t end) {
  const auto& all = of.operations(s);
  const auto* begin = all.begin();
  return static_cast<size_t>(std::partition_point(begin, begin + end,
                                                  [&](const DeviceOperation& operation) {
                                                    return operation.end <= time;
                                                  }) -
                             begin);
}

bool was_launched_before(const DeviceStarts& of, LocationId host, const DeviceWait& wait,
                         const Call& call, size_t s, size_t i) {
  const DeviceOperation& operation = of.operations(s)[i];
  if (operation.begin >= call.leave) return false;
  if (!operation.launch.valid()) return operation.end <= call.leave;
  const CallIndex launch = of.launch_at(operation.launch.host, operation.launch.launch).call;
  if (operation.launch.host == host) return launch <= wait.call;
  return of.run.call(operation.launch.host, launch).enter <= call.enter;
}

/// Records the host's waits for the operations from `first` to `last` of a stream.
void await(const DeviceStarts& of, LocationId host, const Call& call, size_t s, size_t first,
           size_t last, Awaited& awaited, Detection& out) {
  const LocationId stream = of.process.streams[s];
  const Time until = std::min(of.operations(s)[last].end, call.leave);
  const Start& start = of.starts[s][first];
  // The operation runs, or waits for another stream's running operation, or its launch is still
  // under way.
  const bool on_its_way = of.operations(s)[first].begin > call.enter &&
                          (start.ready <= call.enter || start.ready == start.handed_over);
  const Time since = on_its_way ? of.operations(s)[first].begin : call.enter;
  awaited.since = std::min(awaited.since, since);
  if (until > awaited.until) awaited.until = until, awaited.stream = stream;
  out.meet(host, stream, until);
}

void await_operation(const DeviceStarts& of, LocationId host, const DeviceWait& wait,
                     const Call& call, const OperationIndex::Place& place, Awaited& awaited,
                     Detection& out) {
  const size_t s = of.position(place.location);
  const DeviceOperation& operation = of.operations(s)[place.index];
  awaited.own = operation.launch.valid() && operation.launch.host == host &&
                of.launch_at(host, operation.launch.launch).call == wait.call;
  awaited.blocking_copy = awaited.own && operation.kind == DeviceOpKind::copy;
  if (operation.end <= call.enter) return;
  await(of, host, call, s, first_pending(of, s, call.enter, place.index), place.index, awaited,
        out);
}

void await_stream(const DeviceStarts& of, LocationId host, const DeviceWait& wait, const Call& call,
                  size_t s, Awaited& awaited, Detection& out) {
  const auto [first, end] = awaited_operations(of, host, wait, call, s);
  if (first < end) await(of, host, call, s, first, end - 1, awaited, out);
}

void visit_host(const DeviceStarts& of, LocationId host, Detection& out) {
  for (CallIndex unknown : of.run.at(host).device.unknown_waits) {
    out.at(host).unknown_waits.push_back(of.run.call(host, unknown).path);
  }
  const auto& waits = of.run.at(host).device.waits;
  for (uint32_t w = 0; w < waits.size(); ++w) {
    const DeviceWait& wait = waits[w];
    const Call call = of.run.call(host, wait.call);
    Awaited awaited;
    const auto await_place = [&](const OperationIndex::Place& place) {
      await_operation(of, host, wait, call, place, awaited, out);
    };
    for (size_t s = 0; s < of.process.streams.size(); ++s) {
      await_stream(of, host, wait, call, s, awaited, out);
    }
    if (wait.what == DeviceWaitFor::operation) of.for_each_executed(wait.operation, await_place);
    for (const OperationIndex::Place& place : of.marks.held(host, w)) await_place(place);
    const bool nothing = !awaited.stream.valid();
    out.at(host).device_waits.push_back(
        {call.enter, call.leave, call.path,
         nothing && !of.guesses && is_known(of, wait) && !awaited.own});
    if (nothing) continue;
    const Time until = std::min(awaited.until, call.leave);
    out.at(host).wait(
        awaited.blocking_copy ? pattern("dev.blocking_copy") : pattern("dev.host_wait"), call.path,
        std::max(awaited.since, call.enter), call.leave, until, awaited.stream);
  }
}

}  // namespace

AwaitedOperations awaited_operations(const DeviceStarts& of, LocationId host,
                                     const DeviceWait& wait, const Call& call, size_t s) {
  if (wait.what == DeviceWaitFor::operation || !is_waited_for(of, wait, s)) return {};
  const auto& all = of.operations(s);
  const size_t first = first_pending(of, s, call.enter, all.size());
  size_t end = first;
  while (end < all.size() && was_launched_before(of, host, wait, call, s, end)) ++end;
  return {first, end};
}

void detect_host_waits(const DeviceStarts& process, Detection& out) {
  for (LocationId host : process.process.hosts) visit_host(process, host, out);
}

}  // namespace culprit::replay
