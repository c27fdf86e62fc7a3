// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Rows of calls, operations and devices from what the detectors found, and devices' efficiencies
// from their sums.
#include "blame/device/device_use.h"

#include <algorithm>
#include <map>

#include "base/parallel.h"
#include "base/ranks/exchange.h"
#include "blame/device/device_time_series.h"
#include "blame/profile/stretches.h"
#include "replay/read/device_busy.h"

namespace culprit::blame {

namespace {

using replay::DeviceGap;
using replay::DeviceKey;
using replay::DeviceOperation;
using replay::Run;
using trace::DeviceOpKind;

/// An interval in which a device executes a kernel, or another operation.
struct Use {
  Time begin, end;
  bool kernel;
};

/// The sums of one device on one rank, which are added over ranks.
struct Sums {
  double idle_s = 0, late_s = 0, tail_s = 0, unknown_s = 0;
  uint64_t operations = 0, bytes = 0, pageable = 0, streams = 0;
};

struct Device {
  explicit Device(const Run& run) : series(run) {}
  LocationId first;  ///< its first stream
  std::vector<Use> uses;
  Sums sums;
  DeviceTimeSeries series;
};

bool is_kernel(DeviceOpKind kind) {
  return kind == DeviceOpKind::kernel || kind == DeviceOpKind::graph;
}

class DeviceReport {
 public:
  DeviceReport(const Explained& given, Findings& found)
      : run_(given.run), graph_(given.graph), threads_(given.threads), found_(found) {}

  void write() {
    add_calls();
    add_operations();
    add_devices();
  }

 private:
  // --- calls and operations ---

  void add_calls() {
    for (LocationId host : run_.locations) {
      std::map<CallPathId, FoundDeviceCall> rows;
      for (const replay::DeviceCallWait& call : graph_.device_waits[host.index()]) {
        FoundDeviceCall& row =
            rows.try_emplace(call.path, FoundDeviceCall{call.path, host}).first->second;
        const double time = (call.leave - call.enter).seconds();
        ++row.count;
        row.time_s += time;
        if (!call.redundant) continue;
        ++row.redundant;
        row.redundant_s += time;
      }
      for (const auto& [path, row] : rows) found_.device_calls.push_back(row);
    }
  }

  /// The latency of a launch in the stream's gap that ends with the operation that begins then;
  /// `gap`: all before it are over.
  Duration idle_latency(LocationId stream, Time begin, size_t& gap) const {
    const auto& gaps = graph_.device_gaps[stream.index()];
    while (gap < gaps.size() && gaps[gap].end < begin) ++gap;
    if (gap == gaps.size() || gaps[gap].end != begin || !gaps[gap].known) return {};
    return begin - std::max(gaps[gap].handed_over, gaps[gap].held);
  }

  void add_operations() {
    for (LocationId stream : run_.locations) {
      std::map<CallPathId, FoundDeviceOperation> rows;
      const replay::Activities& life = run_.at(stream).activities;
      size_t activity = 0;
      // Latency counts for them only while the device had nothing to do: else it may have been
      // full.
      std::map<CallPathId, Duration> idle;
      size_t gap = 0;
      for (const DeviceOperation& operation : run_.at(stream).device.operations) {
        if (!replay::keeps_device_busy(operation.kind)) continue;
        idle[operation.path] += idle_latency(stream, operation.begin, gap);
        FoundDeviceOperation fresh{operation.path, stream};
        fresh.kind = is_kernel(operation.kind)              ? DeviceOperationKind::kernel
                     : operation.kind == DeviceOpKind::copy ? DeviceOperationKind::copy
                                                            : DeviceOperationKind::other;
        FoundDeviceOperation& row = rows.try_emplace(operation.path, fresh).first->second;
        ++row.count;
        row.time_s += (operation.end - operation.begin).seconds();
        row.bytes += operation.bytes;
        row.pageable += operation.memory == trace::HostMemory::pageable;
        activity = life.after(operation.begin, activity);
        if (activity > 0 && life.path(activity - 1) == run_.launch_latency) {
          row.latency_s += (life.end(activity - 1) - life.begin(activity - 1)).seconds();
        }
      }
      for (auto& [path, row] : rows) {
        row.launch_bound = idle[path].seconds() > row.time_s;
        found_.device_operations.push_back(row);
      }
    }
  }

  // --- devices ---

  void add_devices() {
    const size_t count = replay::device_count(*run_.definitions);
    std::vector<Device> devices(count, Device(run_));
    for (LocationId stream : run_.locations) {
      if (run_.is_stream(stream)) {
        add_stream(stream, devices[replay::device_of(*run_.definitions, stream).index()]);
      }
    }
    add_time_series(devices);
    for (Device& device : devices) merge(device.uses);
    gather(devices);
    if (run_.ranks->rank() != 0) return;
    double kernels = 0, most_kernels = 0, most_busy = 0;
    size_t used = 0;
    for (Device& device : devices) {
      if (!device.first.valid()) continue;
      add_uses(device);
      const FoundDevice row = describe(device);
      device.series.write(FoundDeviceId(found_.devices.size()), found_.device_times);
      found_.devices.push_back(row);
      ++used;
      kernels += row.kernels_s;
      most_kernels = std::max(most_kernels, row.kernels_s);
      most_busy = std::max(most_busy, row.busy_s);
    }
    if (used == 0) return;
    const auto add = [&](Factor factor, Factor parent, double part, double whole) {
      found_.efficiencies.push_back({factor, parent, whole > 0 ? part / whole : 1});
    };
    const double wall = run_.wall().seconds(), n = static_cast<double>(used);
    add(Factor::device, Factor::none, kernels, n * wall);
    add(Factor::device_load_balance, Factor::device, kernels, n * most_kernels);
    add(Factor::device_communication, Factor::device, most_kernels, most_busy);
    add(Factor::device_orchestration, Factor::device, most_busy, wall);
  }

  void add_stream(LocationId stream, Device& device) const {
    if (!device.first.valid()) device.first = stream;
    ++device.sums.streams;
    for (const DeviceOperation& operation : run_.at(stream).device.operations) {
      if (!replay::keeps_device_busy(operation.kind)) continue;
      ++device.sums.operations;
      if (operation.kind == DeviceOpKind::copy) {
        device.sums.bytes += operation.bytes;
        device.sums.pageable += operation.memory == trace::HostMemory::pageable;
      }
      if (operation.begin < operation.end) {
        device.uses.push_back({operation.begin, operation.end, is_kernel(operation.kind)});
      }
    }
    for (const DeviceGap& gap : graph_.device_gaps[stream.index()]) {
      device.sums.idle_s += (gap.end - gap.begin).seconds();
      (gap.known ? device.sums.late_s : device.sums.unknown_s) +=
          ((gap.known ? gap.handed_over : gap.end) - gap.begin).seconds();
      if (gap.place == DeviceGap::Place::after_last) {
        device.sums.tail_s += (gap.end - gap.begin).seconds();
      }
    }
  }

  /// Adds the time series of idle times; busy times are known only after all ranks have sent
  /// theirs.
  void add_time_series(std::vector<Device>& devices) const {
    const std::vector<bool> launching = launching_paths();
    std::vector<LocationId> streams = run_.locations;
    std::erase_if(streams, [&](LocationId id) { return !run_.is_stream(id); });
    std::vector<DeviceTimeSeries> series_by_stream(streams.size(), DeviceTimeSeries(run_));
    parallel_for(series_by_stream.size(), threads_, [&](size_t i) {
      for (const DeviceGap& gap : graph_.device_gaps[streams[i].index()]) {
        if (!gap.known) {
          series_by_stream[i].unknown(gap.begin, gap.end);
          continue;
        }
        for_each_stretch(run_, gap.host, {}, gap.begin, gap.handed_over,
                         [&](Time begin, Time end, CallPathId path, const replay::Wait*) {
                           series_by_stream[i].late(begin, end, path, launching[path.index()]);
                         });
        series_by_stream[i].held(gap.handed_over, gap.held);
        series_by_stream[i].latency(std::max(gap.handed_over, gap.held), gap.end);
      }
    });
    for (size_t i = 0; i < series_by_stream.size(); ++i) {
      devices[replay::device_of(*run_.definitions, streams[i]).index()].series.add(
          series_by_stream[i]);
    }
  }

  /// Returns the launch calls: the launched operations are their children in the call tree.
  std::vector<bool> launching_paths() const {
    std::vector<bool> launching(run_.callpaths.size());
    for (LocationId stream : run_.locations) {
      for (const DeviceOperation& operation : run_.at(stream).device.operations) {
        if (!operation.launch.valid()) continue;
        const CallPathId above = run_.callpaths[operation.path].parent;
        if (above.valid()) launching[above.index()] = true;
      }
    }
    return launching;
  }

  static void add_uses(Device& device) {
    for (const Use& use : device.uses) {
      if (use.kernel) device.series.kernel(use.begin, use.end);
    }
    Time covered = Time::min();
    std::vector<Use> all = device.uses;
    std::sort(all.begin(), all.end(), [](const Use& a, const Use& b) { return a.begin < b.begin; });
    for (const Use& use : all) {
      device.series.busy(std::max(use.begin, covered), use.end);
      covered = std::max(covered, use.end);
    }
  }

  /// Merges intervals, so that those of kernels do not overlap each other, nor do those of other
  /// operations.
  static void merge(std::vector<Use>& uses) {
    std::sort(uses.begin(), uses.end(), [](const Use& a, const Use& b) {
      return a.kernel != b.kernel ? a.kernel : a.begin < b.begin;
    });
    size_t merged = 0;
    for (const Use& use : uses) {
      if (merged > 0 && uses[merged - 1].kernel == use.kernel &&
          use.begin <= uses[merged - 1].end) {
        uses[merged - 1].end = std::max(uses[merged - 1].end, use.end);
      } else {
        uses[merged++] = use;
      }
    }
    uses.resize(merged, Use{});
  }

  /// On rank 0.
  void gather(std::vector<Device>& devices) const {
    if (run_.ranks->alone()) return;
    Packer own;
    for (size_t key = 0; key < devices.size(); ++key) {
      if (!devices[key].first.valid() || run_.ranks->rank() == 0) continue;
      own.put(DeviceKey(key));
      own.put(devices[key].first);
      own.put(devices[key].sums);
      own.put_list(std::span<const Use>(devices[key].uses));
      devices[key].series.pack(own);
    }
    for (const Parcel& parcel : culprit::gather(*run_.ranks, own.take())) {
      for (Unpacker from(parcel); !from.done();) {
        Device& device = devices[from.get<DeviceKey>().index()];
        device.first = std::min(device.first, from.get<LocationId>());
        const auto sums = from.get<Sums>();
        device.sums.idle_s += sums.idle_s;
        device.sums.late_s += sums.late_s;
        device.sums.tail_s += sums.tail_s;
        device.sums.unknown_s += sums.unknown_s;
        device.sums.operations += sums.operations;
        device.sums.bytes += sums.bytes;
        device.sums.pageable += sums.pageable;
        device.sums.streams += sums.streams;
        from.get_list<Use>([&](const Use& use) { device.uses.push_back(use); });
        merge(device.uses);
        device.series.unpack(from);
      }
    }
  }

  FoundDevice describe(const Device& device) const {
    FoundDevice row;
    const trace::Location& stream = run_.location(device.first);
    const bool known = stream.device.valid();
    row.name = known ? run_.definitions->devices[stream.device.index()].name : stream.name;
    row.node = known ? run_.definitions->devices[stream.device.index()].node
                     : run_.definitions->processes[stream.process.index()].node;
    row.location = device.first;
    row.streams = device.sums.streams;
    row.operations = device.sums.operations;
    row.copied_bytes = device.sums.bytes;
    row.pageable_copies = device.sums.pageable;
    row.late_s = device.sums.late_s;
    row.tail_s = device.sums.tail_s;
    row.unknown_s = device.sums.unknown_s;
    row.latency_s = device.sums.idle_s - device.sums.late_s - device.sums.unknown_s;
    row.idle_s = device.sums.idle_s;
    measure(device.uses, row);
    return row;
  }

  /// `uses`: kernels, then the rest, each in order.
  static void measure(const std::vector<Use>& uses, FoundDevice& row) {
    const auto rest =
        std::partition_point(uses.begin(), uses.end(), [](const Use& use) { return use.kernel; });
    for (auto use = uses.begin(); use != rest; ++use) {
      row.kernels_s += (use->end - use->begin).seconds();
    }
    double others = 0;
    auto kernel = uses.begin();
    for (auto use = rest; use != uses.end(); ++use) {
      others += (use->end - use->begin).seconds();
      while (kernel != rest && kernel->end <= use->begin) ++kernel;
      for (auto k = kernel; k != rest && k->begin < use->end; ++k) {
        row.overlapped_s += (std::min(k->end, use->end) - std::max(k->begin, use->begin)).seconds();
      }
    }
    row.copies_s = others;
    row.busy_s = row.kernels_s + others - row.overlapped_s;
  }

  const Run& run_;
  const replay::WaitGraph& graph_;
  unsigned threads_;
  Findings& found_;
};

}  // namespace

void explain_devices(const Explained& given, Findings& found) {
  if (given.run.device_idle.valid()) DeviceReport(given, found).write();
}

}  // namespace culprit::blame
