// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Waits of streams: a device is idle while none of its streams executes anything. Each such gap is
// charged once, to the stream whose operation ends it, until the enter of the launch of that
// operation. Where an operation waited for other streams, its stream waited.
#include <algorithm>

#include "replay/detect/devices/device_starts.h"

namespace culprit::replay {

namespace {

const std::vector<DeviceBusy>& busy_of(const DeviceStarts& of, const DevicesBusy& all,
                                       LocationId stream) {
  return all[device_of(*of.run.definitions, stream).index()];
}

/// The device was idle from `since` to `end`, when an operation began, or the stream was done with
/// one that does not keep the device busy, as a function of the host; it was at that until `held`.
void end_gap(const DeviceStarts& of, LocationId stream, Time since, Time end, Time held,
             const Start& start, DeviceGap::Place place, Detection& out) {
  if (end <= since) return;
  const Time until = std::clamp(start.handed_over, since, end);
  LocationWaits& found = out.at(stream);
  found.device_gaps.push_back({since, start.host.valid() ? until : since, end, stream, start.host,
                               start.host.valid(), place, held});
  if (!start.host.valid()) return;
  found.wait(pattern("dev.late_launch"), of.run.device_idle, since, until, until, start.host);
}

/// The operation was launched onto an idle stream: host and stream synchronise at the launch, and
/// before it the stream had nothing to do.
void was_launched(LocationId stream, const DeviceOperation& operation, const Start& start,
                  Detection& out) {
  if (start.handed_over <= start.previous) return;
  // The stream continues with the operation, or with a wait for other streams.
  const bool waits = start.awaited > start.handed_over;
  out.meet(start.host, stream, waits ? start.handed_over : operation.begin);
  out.at(stream).handovers.push_back({start.handed_over, start.host});
}

/// The operation had been launched, but had to wait for operations of other streams.
void wait_for_streams(const DeviceStarts& of, LocationId stream, const DeviceOperation& operation,
                      const Start& start, Detection& out) {
  const Time since = std::max(start.previous, start.handed_over);
  if (!start.waits_of.valid() || start.awaited <= since) return;
  const Time until = std::min(start.awaited, operation.end);
  LocationWaits& found = out.at(stream);
  // Where the wait is a device operation itself, that operation lasts as long as the wait.
  found.wait(pattern("dev.stream_wait"), of.run.stream_idle, since,
             std::min(until, operation.begin), std::min(until, operation.begin), start.waits_of);
  if (!keeps_device_busy(operation.kind)) {
    found.wait(pattern("dev.stream_wait"), operation.path, std::max(since, operation.begin), until,
               until, start.waits_of);
  }
  out.meet(stream, start.waits_of, until);
}

/// After its last operation the stream has nothing to do until the end of its process, or of what
/// is known of it.
void nothing_more(const DeviceStarts& of, LocationId stream, Time since, Detection& out) {
  const LocationId master = of.run.master_of(stream);
  if (of.run.at(master).empty()) return;
  const Time known = of.run.definitions->locations[stream.index()].observed_until;
  const Time end = std::min(of.run.at(master).last, known);
  if (end <= since) return;
  LocationWaits& found = out.at(stream);
  found.device_gaps.push_back(
      {since, end, end, stream, master, true, DeviceGap::Place::after_last});
  found.wait(pattern("dev.no_more_work"), of.run.device_idle, since, end, end, master);
  out.meet(stream, master, end);
}

void visit_stream(const DeviceStarts& of, const DevicesBusy& all_busy, size_t s, Detection& out) {
  const LocationId stream = of.process.streams[s];
  const std::vector<DeviceBusy>& busy = busy_of(of, all_busy, stream);
  size_t next = 0;
  for (size_t i = 0; i < of.operations(s).size(); ++i) {
    const DeviceOperation& operation = of.operations(s)[i];
    const Start& start = of.starts[s][i];
    while (next < busy.size() && busy[next].begin < operation.begin) ++next;
    const bool ends_gap = next < busy.size() && busy[next].begin == operation.begin &&
                          busy[next].first == stream && keeps_device_busy(operation.kind) &&
                          operation.begin < operation.end;
    if (ends_gap) {
      const auto place = next > 0 ? DeviceGap::Place::between : DeviceGap::Place::before_first;
      Time since = std::max(next > 0 ? busy[next - 1].end : of.born(stream), of.born(stream));
      if (i > 0 && !keeps_device_busy(of.operations(s)[i - 1].kind) && start.previous > since) {
        end_gap(of, stream, since, start.previous, start.previous, of.starts[s][i - 1], place, out);
        since = start.previous;
      }
      end_gap(of, stream, since, operation.begin, since, start, place, out);
    }
    if (start.host.valid()) {
      was_launched(stream, operation, start, out);
      wait_for_streams(of, stream, operation, start, out);
    }
  }
  if (!busy.empty() && busy.back().last == stream) nothing_more(of, stream, busy.back().end, out);
}

}  // namespace

void detect_stream_waits(const DeviceStarts& process, const DevicesBusy& busy, Detection& out) {
  for (size_t s = 0; s < process.process.streams.size(); ++s) {
    visit_stream(process, busy, s, out);
  }
}

}  // namespace culprit::replay
