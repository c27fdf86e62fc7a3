// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Waits between hosts and devices, one process at a time; of other processes it needs only when
// they keep a device busy that several use.
//
// An operation could begin once it is launched, its stream has done what came before, and what it
// waits for of other streams is done. From then to its begin is launch latency: no wait, for nobody
// is late. A device is idle while none of its streams executes anything, and each such gap is
// charged once, on the stream whose operation ends it, until the enter of that one's launch. A host
// in a call that waits is waiting while an operation that it waits for could run.
#include <algorithm>
#include <map>

#include "base/parallel.h"
#include "replay/detect/detection.h"
#include "replay/read/device_busy.h"
#include "replay/read/join_device.h"

namespace culprit::replay {

namespace {

using trace::DeviceOpKind;
using trace::DeviceWaitFor;

/// What an operation waited for before it could begin.
struct Start {
  Time handed_over;  ///< enter of its launch, or of the call that let it go; its begin if unknown
  LocationId host;   ///< whose call that was; none: unknown
  CallIndex call;
  Time previous;        ///< when the stream had done what came before
  Time awaited;         ///< when other streams had done what it waits for; Time::min(): nothing
  LocationId waits_of;  ///< the last of these
  Time ready;           ///< it could begin; not later than its begin
};

class DeviceDetector {
 public:
  DeviceDetector(Run& run, const std::vector<std::vector<DeviceBusy>>& busy, ProcessId process,
                 Detection& out, Losses& losses)
      : run_(run),
        busy_(busy),
        process_(run, process),
        index_(run, process_),
        out_(out),
        losses_(losses) {}

  void detect() {
    if (process_.streams.empty()) return;
    find_queue_waits();
    starts_.resize(process_.streams.size());
    for (size_t s = 0; s < process_.streams.size(); ++s) {
      find_starts(s);
      rebuild(s);
    }
    for (size_t s = 0; s < process_.streams.size(); ++s) visit_stream(s);
    for (LocationId host : process_.hosts) visit_host(host);
  }

 private:
  const Column<DeviceOperation>& operations(size_t stream) const {
    return run_.at(process_.streams[stream]).device.operations;
  }
  size_t position(LocationId stream) const {
    const auto& all = process_.streams;
    return static_cast<size_t>(std::lower_bound(all.begin(), all.end(), stream) - all.begin());
  }
  const std::vector<DeviceBusy>& busy(LocationId stream) const {
    return busy_[device_of(*run_.definitions, stream).index()];
  }
  const DeviceLaunch& launch_at(LocationId host, uint32_t index) const {
    return run_.at(host).device.launches[index];
  }
  /// The process's begin, as far as this stream is concerned.
  Time born(LocationId stream) const {
    const Timeline& master = run_.at(run_.master_of(stream));
    return master.empty() ? run_.at(stream).first : std::min(master.first, run_.at(stream).first);
  }

  // --- when operations could begin ---

  void find_starts(size_t s) {
    Time previous = born(process_.streams[s]);
    starts_[s].reserve(operations(s).size());
    const std::vector<QueueWait>& waits = queue_waits_[run_.location(process_.streams[s]).queue];
    size_t next_wait = 0;
    for (const DeviceOperation& operation : operations(s)) {
      Start start{operation.begin, {}, {}, std::min(previous, operation.begin), Time::min(), {},
                  operation.begin};
      if (operation.launch.valid()) {
        const LocationId host = operation.launch.host;
        hand_over(start, host, launch_at(host, operation.launch.launch).call);
        start.handed_over = run_.call(start.host, start.call).enter;
        await_others(start, process_.streams[s], operation.launch);
        for (; next_wait < waits.size() && waits[next_wait].enter <= start.handed_over;
             ++next_wait) {
          await_others(start, process_.streams[s], waits[next_wait].launch);
        }
        // Clocks of host and device agree to a microsecond or so.
        start.handed_over = std::min(start.handed_over, operation.begin);
        start.ready =
            std::min(operation.begin, std::max({start.handed_over, start.previous, start.awaited}));
      }
      guesses_ |= !start.host.valid();
      starts_[s].push_back(start);
      previous = operation.end;
    }
  }

  static void hand_over(Start& start, LocationId host, CallIndex call) {
    start.host = host;
    start.call = call;
  }

  /// Waits of queues that no stream shows: what is launched next waits for the same.
  void find_queue_waits() {
    for (LocationId host : process_.hosts) {
      const auto& launches = run_.at(host).device.launches;
      for (uint32_t i = 0; i < launches.size(); ++i) {
        const DeviceLaunch& launch = launches[i];
        if (keeps_device_busy(launch.kind) || launch.first_after == launch.end_after ||
            launch.kind == DeviceOpKind::release || index_.executed(launch.operation)) {
          continue;
        }
        queue_waits_[launch.queue].push_back({run_.call(host, launch.call).enter, {host, i}});
      }
    }
    for (auto& [queue, waits] : queue_waits_) {
      std::stable_sort(waits.begin(), waits.end(),
                       [](const QueueWait& a, const QueueWait& b) { return a.enter < b.enter; });
    }
  }

  void await_others(Start& start, LocationId stream, const LaunchRef& launched) {
    const DeviceLaunch& launch = launch_at(launched.host, launched.launch);
    const auto& after = run_.at(launched.host).device.after;
    for (uint32_t a = launch.first_after; a < launch.end_after; ++a) {
      if (const auto place = index_.executed(after[a])) {
        const DeviceOperation& other = run_.at(place->location).device.operations[place->index];
        if (place->location == stream || other.end <= start.awaited) continue;
        start.awaited = other.end;
        start.waits_of = place->location;
      } else if (const auto released = index_.launched(after[a])) {
        const CallIndex call = launch_at(released->location, released->index).call;
        const Time enter = run_.call(released->location, call).enter;
        if (launch_at(released->location, released->index).kind != DeviceOpKind::release ||
            enter <= start.handed_over) {
          continue;
        }
        start.handed_over = enter;
        hand_over(start, released->location, call);
      }
    }
  }

  void rebuild(size_t s) {
    std::vector<Time> ready;
    ready.reserve(starts_[s].size());
    for (const Start& start : starts_[s]) ready.push_back(start.ready);
    build_stream_life(run_, process_.streams[s], busy(process_.streams[s]), ready);
  }

  // --- streams ---

  void visit_stream(size_t s) {
    const LocationId stream = process_.streams[s];
    const std::vector<DeviceBusy>& busy = this->busy(stream);
    size_t next = 0;
    for (size_t i = 0; i < operations(s).size(); ++i) {
      const DeviceOperation& operation = operations(s)[i];
      const Start& start = starts_[s][i];
      while (next < busy.size() && busy[next].begin < operation.begin) ++next;
      const bool ends_gap = next < busy.size() && busy[next].begin == operation.begin &&
                            busy[next].first == stream && keeps_device_busy(operation.kind) &&
                            operation.begin < operation.end;
      if (ends_gap) {
        const Time since = next > 0 ? busy[next - 1].end : born(stream);
        end_gap(stream, std::max(since, born(stream)), operation, start,
                next > 0 ? DeviceGap::Place::between : DeviceGap::Place::before_first);
      }
      if (start.host.valid()) {
        was_launched(stream, operation, start);
        wait_for_streams(stream, operation, start);
      }
    }
    if (!busy.empty() && busy.back().last == stream) nothing_more(stream, busy.back().end);
  }

  /// The device was idle, from `since` on, until this operation.
  void end_gap(LocationId stream, Time since, const DeviceOperation& operation, const Start& start,
               DeviceGap::Place place) {
    if (operation.begin <= since) return;
    const Time until = std::clamp(start.handed_over, since, operation.begin);
    LocationWaits& found = out_.at(stream);
    found.device_gaps.push_back({since, start.host.valid() ? until : since, operation.begin, stream,
                                 start.host, start.host.valid(), place});
    if (!start.host.valid()) return;
    found.wait(pattern("dev.late_launch"), run_.device_idle, since, until, until, start.host);
  }

  /// Onto an idle stream: there host and stream meet, and before it the stream had nothing to do.
  void was_launched(LocationId stream, const DeviceOperation& operation, const Start& start) {
    if (start.handed_over <= start.previous) return;
    // The stream goes on once the operation begins, or to wait for other streams.
    const bool waits = start.awaited > start.handed_over;
    out_.meet(start.host, stream, waits ? start.handed_over : operation.begin);
    out_.at(stream).handovers.push_back({start.handed_over, start.host});
  }

  /// The stream had been told to go on, but not before others.
  void wait_for_streams(LocationId stream, const DeviceOperation& operation, const Start& start) {
    const Time since = std::max(start.previous, start.handed_over);
    if (!start.waits_of.valid() || start.awaited <= since) return;
    const Time until = std::min(start.awaited, operation.end);
    LocationWaits& found = out_.at(stream);
    // Where waiting is an operation of its own, it lasts as long as the wait.
    found.wait(pattern("dev.stream_wait"), run_.stream_idle, since,
               std::min(until, operation.begin), std::min(until, operation.begin), start.waits_of);
    if (!keeps_device_busy(operation.kind)) {
      found.wait(pattern("dev.stream_wait"), operation.path, std::max(since, operation.begin),
                 until, until, start.waits_of);
    }
    out_.meet(stream, start.waits_of, until);
  }

  /// Until the end of its process.
  void nothing_more(LocationId stream, Time since) {
    const LocationId master = run_.master_of(stream);
    if (run_.at(master).empty()) return;
    const Time end = run_.at(master).last;
    if (end <= since) return;
    LocationWaits& found = out_.at(stream);
    found.device_gaps.push_back(
        {since, end, end, stream, master, true, DeviceGap::Place::after_last});
    found.wait(pattern("dev.no_more_work"), run_.device_idle, since, end, end, master);
    out_.meet(stream, master, end);
  }

  // --- hosts ---

  struct Awaited {
    Time since = Time::max();  ///< something could run
    Time until = Time::min();
    LocationId stream;  ///< the last to end
    bool own = false;   ///< only what the call itself handed over: that is never done already
    bool blocking_copy = false;
  };

  void visit_host(LocationId host) {
    for (const DeviceWait& wait : run_.at(host).device.waits) {
      const Call call = run_.call(host, wait.call);
      Awaited awaited;
      for (size_t s = 0; s < process_.streams.size(); ++s) {
        if (wait.what == DeviceWaitFor::operation ? false : is_waited_for(wait, s)) {
          await_stream(host, wait, call, s, awaited);
        }
      }
      if (wait.what == DeviceWaitFor::operation) await_operation(host, wait, call, awaited);
      const bool nothing = !awaited.stream.valid();
      out_.at(host).device_waits.push_back(
          {call.enter, call.leave, call.path,
           nothing && !guesses_ && is_known(wait) && !awaited.own});
      if (nothing) continue;
      const Time until = std::min(awaited.until, call.leave);
      out_.at(host).wait(
          awaited.blocking_copy ? pattern("dev.blocking_copy") : pattern("dev.host_wait"),
          call.path, std::max(awaited.since, call.enter), call.leave, until, awaited.stream);
    }
  }

  bool is_waited_for(const DeviceWait& wait, size_t s) const {
    const trace::Location& stream = run_.location(process_.streams[s]);
    if (wait.what == DeviceWaitFor::queue) {
      if (wait.queue == trace::kNoDeviceQueue) return is_known(wait);
      return stream.queue == wait.queue;
    }
    return !wait.device.valid() || stream.device == wait.device;
  }

  /// Whether it is known for which streams a call waits. Where there is but one, it is that.
  bool is_known(const DeviceWait& wait) const {
    return wait.what != DeviceWaitFor::queue || wait.queue != trace::kNoDeviceQueue ||
           process_.streams.size() == 1;
  }

  void await_operation(LocationId host, const DeviceWait& wait, const Call& call,
                       Awaited& awaited) {
    const auto place = index_.executed(wait.operation);
    if (!place) return;
    const size_t s = position(place->location);
    const DeviceOperation& operation = operations(s)[place->index];
    awaited.own = operation.launch.valid() && operation.launch.host == host &&
                  launch_at(host, operation.launch.launch).call == wait.call;
    awaited.blocking_copy = awaited.own && operation.kind == DeviceOpKind::copy;
    if (operation.end <= call.enter) return;
    await(host, call, s, first_pending(s, call.enter, place->index), place->index, awaited);
  }

  void await_stream(LocationId host, const DeviceWait& wait, const Call& call, size_t s,
                    Awaited& awaited) {
    const auto& all = operations(s);
    const size_t first = first_pending(s, call.enter, all.size());
    size_t end = first;
    while (end < all.size() && was_launched_before(host, wait, call, s, end)) ++end;
    if (first < end) await(host, call, s, first, end - 1, awaited);
  }

  /// Of this stream, the first that has not ended at `time`; `end` at the most.
  size_t first_pending(size_t s, Time time, size_t end) const {
    const auto& all = operations(s);
    const auto* begin = all.begin();
    return static_cast<size_t>(std::partition_point(begin, begin + end,
                                                    [&](const DeviceOperation& operation) {
                                                      return operation.end <= time;
                                                    }) -
                               begin);
  }

  bool was_launched_before(LocationId host, const DeviceWait& wait, const Call& call, size_t s,
                           size_t i) const {
    const DeviceOperation& operation = operations(s)[i];
    if (operation.begin >= call.leave) return false;
    if (!operation.launch.valid()) return operation.end <= call.leave;
    const CallIndex launch = launch_at(operation.launch.host, operation.launch.launch).call;
    if (operation.launch.host == host) return launch <= wait.call;
    return run_.call(operation.launch.host, launch).enter <= call.enter;
  }

  /// The operations from `first` to `last` of a stream.
  void await(LocationId host, const Call& call, size_t s, size_t first, size_t last,
             Awaited& awaited) {
    const LocationId stream = process_.streams[s];
    const Time until = std::min(operations(s)[last].end, call.leave);
    const Start& start = starts_[s][first];
    // It runs, or waits for another stream that does; or it is on its way.
    const bool on_its_way = operations(s)[first].begin > call.enter &&
                            (start.ready <= call.enter || start.ready == start.handed_over);
    const Time since = on_its_way ? operations(s)[first].begin : call.enter;
    awaited.since = std::min(awaited.since, since);
    if (until > awaited.until) awaited.until = until, awaited.stream = stream;
    out_.meet(host, stream, until);
  }

  Run& run_;
  const std::vector<std::vector<DeviceBusy>>& busy_;
  const DeviceProcess process_;
  const OperationIndex index_;
  Detection& out_;
  Losses& losses_;
  struct QueueWait {
    Time enter;
    LaunchRef launch;
  };
  std::map<uint32_t, std::vector<QueueWait>> queue_waits_;
  std::vector<std::vector<Start>> starts_;  // by position of the stream, by operation
  bool guesses_ = false;                    // it is not known of all operations who launched them
};

bool has_streams(const Run& run) {
  return run.device_idle.valid();
}

}  // namespace

void detect_devices(Run& run, unsigned threads, Detection& out) {
  if (!has_streams(run)) return;
  const std::vector<std::vector<DeviceBusy>> busy = devices_busy(run, threads);
  const size_t processes = run.definitions->processes.size();
  std::vector<Losses> losses(processes);
  parallel_for(processes, threads,
               [&](size_t p) { DeviceDetector(run, busy, ProcessId(p), out, losses[p]).detect(); });
  for (const Losses& loss : losses) out.losses.merge(loss);
}

}  // namespace culprit::replay
