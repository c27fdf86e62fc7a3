// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Devices: an operation begins after its launch, after what its queue did before and after what it
// waits for of others; a host's call that waits for operations returns after these. How long an
// operation takes to begin once it could (launch latency) is the stream's own time. Where the
// launch of an operation is unknown, the gap before it stays as it was.
#include <vector>

#include "base/parallel.h"
#include "predict/rerun/dependences.h"
#include "replay/detect/devices/device_starts.h"

namespace culprit::predict {

namespace {

using replay::Call;
using replay::DeviceOperation;
using replay::DeviceStarts;
using replay::DeviceWait;
using replay::Run;
using replay::Start;

void add_stream(const DeviceStarts& of, size_t s, Dependences& found) {
  const LocationId stream = of.process.streams[s];
  for (const Start& start : of.starts[s]) {
    if (!start.host.valid()) continue;
    const Moment gate{stream, start.ready, start.ready};
    const Time launched = of.run.call(start.host, start.call).enter;
    found.edge({start.host, launched, launched}, gate);
    if (start.previous < start.ready) found.idle.push_back({stream, start.previous, start.ready});
  }
  // All of them: with one of them faster, it waits for the next.
  for (const replay::AwaitedOther& other : of.others[s]) {
    const Start& start = of.starts[s][other.operation];
    if (!start.host.valid()) continue;
    found.edge({other.stream, other.end, other.end}, {stream, start.ready, start.ready});
  }
  const Time done = of.operations(s).empty() ? of.born(stream) : of.operations(s).back().end;
  found.idle.push_back({stream, done, of.run.end});
}

/// Clocks of hosts and devices agree to a microsecond or so; a loop that asks whether the operation
/// has ended is over this soon after it.
constexpr Duration kClockSlack = Duration::from_nanos(2000);

/// The call cannot return before this operation has ended.
void await(LocationId host, const Call& call, LocationId stream, const DeviceOperation& operation,
           Dependences& found) {
  if (operation.end > call.leave + kClockSlack) return;  // it does not wait for it
  found.edge({stream, operation.end, operation.begin},
             {host, std::max(operation.end, call.enter), call.enter});
}

void add_host(const DeviceStarts& of, LocationId host, Dependences& found) {
  const auto& waits = of.run.at(host).device.waits;
  for (uint32_t w = 0; w < waits.size(); ++w) {
    const DeviceWait& wait = waits[w];
    const Call call = of.run.call(host, wait.call);
    const auto await_place = [&](const replay::OperationIndex::Place& place) {
      const auto& all = of.run.at(place.location).device.operations;
      await(host, call, place.location, all[place.index], found);
    };
    for (size_t s = 0; s < of.process.streams.size(); ++s) {
      const auto [first, end] = replay::awaited_operations(of, host, wait, call, s);
      if (end > 0) await(host, call, of.process.streams[s], of.operations(s)[end - 1], found);
    }
    if (wait.what == trace::DeviceWaitFor::operation) {
      of.for_each_executed(wait.operation, await_place);
    }
    for (const auto& place : of.marks.held(host, w)) await_place(place);
  }
}

}  // namespace

void add_devices(const Run& run, unsigned threads, Dependences& found) {
  if (!replay::has_streams(*run.definitions)) return;
  std::vector<Dependences> parts(run.definitions->processes.size());
  parallel_for(parts.size(), threads, [&](size_t p) {
    if (!run.owns(ProcessId(p))) return;
    parts[p] = part_of(found);
    const DeviceStarts process = replay::find_device_starts(run, ProcessId(p));
    for (size_t s = 0; s < process.process.streams.size(); ++s) add_stream(process, s, parts[p]);
    for (LocationId host : process.process.hosts) add_host(process, host, parts[p]);
  });
  for (Dependences& part : parts) found.append(std::move(part));
}

}  // namespace culprit::predict
