// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// An operation could begin once it is launched, its stream has finished the operations before it,
// and the operations of other streams that it waits for have ended. Where the launch is unknown,
// its real begin is taken.
#include "replay/detect/devices/device_starts.h"

#include <algorithm>
#include <map>

namespace culprit::replay {

namespace {

using trace::DeviceOpKind;

struct QueueWait {
  Time enter;
  LaunchRef launch;
};
/// By queue, in the order of time.
using QueueWaits = std::map<uint32_t, std::vector<QueueWait>>;

void hand_over(Start& start, LocationId host, CallIndex call) {
  start.host = host;
  start.call = call;
}

/// Waits of queues that appear on no stream: the next operation launched waits for the same.
QueueWaits find_queue_waits(const DeviceStarts& of) {
  QueueWaits queue_waits;
  for (LocationId host : of.process.hosts) {
    const auto& launches = of.run.at(host).device.launches;
    for (uint32_t i = 0; i < launches.size(); ++i) {
      const DeviceLaunch& launch = launches[i];
      if (keeps_device_busy(launch.kind) || launch.first_after == launch.end_after ||
          launch.kind == DeviceOpKind::release || of.index.executed(launch.operation)) {
        continue;
      }
      queue_waits[launch.queue].push_back({of.run.call(host, launch.call).enter, {host, i}});
    }
  }
  for (auto& [queue, waits] : queue_waits) {
    std::stable_sort(waits.begin(), waits.end(),
                     [](const QueueWait& a, const QueueWait& b) { return a.enter < b.enter; });
  }
  return queue_waits;
}

void await_others(const DeviceStarts& of, Start& start, LocationId stream,
                  const LaunchRef& launched, uint32_t operation,
                  std::vector<AwaitedOther>& others) {
  const DeviceLaunch& launch = of.launch_at(launched.host, launched.launch);
  const auto& after = of.run.at(launched.host).device.after;
  for (uint32_t a = launch.first_after; a < launch.end_after; ++a) {
    const auto await = [&](const OperationIndex::Place& place) {
      const DeviceOperation& other = of.run.at(place.location).device.operations[place.index];
      if (place.location == stream) return;
      others.push_back({operation, place.location, other.end});
      if (other.end <= start.awaited) return;
      start.awaited = other.end;
      start.waits_of = place.location;
    };
    if (of.for_each_executed(after[a], await)) continue;
    if (const auto released = of.index.launched(after[a])) {
      const CallIndex call = of.launch_at(released->location, released->index).call;
      const Time enter = of.run.call(released->location, call).enter;
      if (of.launch_at(released->location, released->index).kind != DeviceOpKind::release ||
          enter <= start.handed_over) {
        continue;
      }
      start.handed_over = enter;
      hand_over(start, released->location, call);
    }
  }
}

/// Not all that a stream waits for is told: default streams wait for others, and who records for
/// another tool may leave waits out. An operation that began just when one of another stream ended,
/// much too late for the latency of a launch, is taken to have waited for that one, if it had to do
/// so for so long that this is no coincidence.
void guess_awaited(const DeviceStarts& of, LocationId stream, const DeviceOperation& operation,
                   Start& start, uint32_t number, std::vector<AwaitedOther>& others) {
  constexpr Duration kLatency = Duration::from_nanos(20'000), kSoon = Duration::from_nanos(10'000);
  constexpr int64_t kNoCoincidence = 20;
  if (operation.begin - start.ready <= kLatency) return;
  const Start known = start;
  for (size_t s = 0; s < of.process.streams.size(); ++s) {
    const LocationId other = of.process.streams[s];
    if (other == stream || of.run.location(other).device != of.run.location(stream).device)
      continue;
    const auto& all = of.operations(s);
    const DeviceOperation* const after = std::partition_point(
        all.begin(), all.end(),
        [&](const DeviceOperation& candidate) { return candidate.end <= operation.begin; });
    if (after == all.begin()) continue;
    const DeviceOperation& last = *(after - 1);
    const Duration late = operation.begin - last.end;
    const Duration waited = last.end - std::max(known.ready, last.begin);
    if (late > kSoon || waited.nanos() < kNoCoincidence * late.nanos() || last.end <= start.ready)
      continue;
    start.ready = start.awaited = last.end;
    start.waits_of = other;
  }
  if (start.waits_of != known.waits_of) others.push_back({number, start.waits_of, start.awaited});
}

std::vector<Start> starts_of(DeviceStarts& of, const QueueWaits& queue_waits, size_t s) {
  std::vector<Start> starts;
  Time previous = of.born(of.process.streams[s]);
  starts.reserve(of.operations(s).size());
  static const std::vector<QueueWait> kNone;
  const auto known = queue_waits.find(of.run.location(of.process.streams[s]).queue);
  const std::vector<QueueWait>& waits = known != queue_waits.end() ? known->second : kNone;
  size_t next_wait = 0;
  std::vector<AwaitedOther>& others = of.others.emplace_back();
  for (const DeviceOperation& operation : of.operations(s)) {
    const auto number = static_cast<uint32_t>(starts.size());
    Start start{operation.begin, {}, {}, std::min(previous, operation.begin), Time::min(), {},
                operation.begin};
    if (operation.launch.valid()) {
      const LocationId host = operation.launch.host;
      hand_over(start, host, of.launch_at(host, operation.launch.launch).call);
      start.handed_over = of.run.call(start.host, start.call).enter;
      await_others(of, start, of.process.streams[s], operation.launch, number, others);
      for (; next_wait < waits.size() && waits[next_wait].enter <= start.handed_over; ++next_wait) {
        await_others(of, start, of.process.streams[s], waits[next_wait].launch, number, others);
      }
      // Clocks of host and device agree to a microsecond or so.
      start.handed_over = std::min(start.handed_over, operation.begin);
      start.ready =
          std::min(operation.begin, std::max({start.handed_over, start.previous, start.awaited}));
      guess_awaited(of, of.process.streams[s], operation, start, number, others);
    }
    of.guesses |= !start.host.valid();
    starts.push_back(start);
    previous = operation.end;
  }
  return starts;
}

}  // namespace

size_t DeviceStarts::position(LocationId stream) const {
  const auto& all = process.streams;
  return static_cast<size_t>(std::lower_bound(all.begin(), all.end(), stream) - all.begin());
}

Time DeviceStarts::born(LocationId stream) const {
  const Timeline& master = run.at(run.master_of(stream));
  return master.empty() ? run.at(stream).first : std::min(master.first, run.at(stream).first);
}

DeviceStarts find_device_starts(const Run& run, ProcessId id) {
  const DeviceProcess process(run, id);
  DeviceStarts found{run, process, OperationIndex(run, process), {}, {}, {}};
  if (process.streams.empty()) return found;
  found.marks = DeviceMarks(run, process, found.index);
  const QueueWaits queue_waits = find_queue_waits(found);
  for (size_t s = 0; s < process.streams.size(); ++s) {
    found.starts.push_back(starts_of(found, queue_waits, s));
  }
  return found;
}

}  // namespace culprit::replay
