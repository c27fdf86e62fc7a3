// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "blame/device_use.h"

#include <algorithm>
#include <map>

#include "base/parallel.h"
#include "blame/path_kinds.h"
#include "blame/stretches.h"
#include "replay/device_busy.h"
#include "replay/exchange.h"

namespace culprit::blame {

namespace {

using replay::DeviceGap;
using replay::DeviceKey;
using replay::DeviceOperation;
using replay::Run;
using replay::Wait;
using trace::DeviceOpKind;

using Blame = std::map<std::pair<LocationId, CallPathId>, double>;

/// A stretch in which a device executes a kernel, or something else.
struct Use {
  Time begin, end;
  bool kernel;
};

/// Of one device, as far as one rank knows it; what is added up.
struct Sums {
  double idle_s = 0, late_s = 0, unknown_s = 0;
  uint64_t operations = 0, bytes = 0, pageable = 0, streams = 0;
};

struct Device {
  LocationId first;  ///< its first stream
  std::vector<Use> uses;
  Sums sums;
};

bool is_kernel(DeviceOpKind kind) {
  return kind == DeviceOpKind::kernel || kind == DeviceOpKind::graph;
}

class DeviceReport {
 public:
  DeviceReport(const Explained& given, Findings& found)
      : run_(given.run), graph_(given.graph), threads_(given.threads), found_(found) {}

  void write() {
    blame_for_idle_devices();
    blame_for_waiting_hosts();
    add_calls();
    add_operations();
    add_devices();
  }

 private:
  void add_blame(const std::vector<Blame>& blames, const char* kind, double& sum) {
    Blame all;
    for (const Blame& blame : blames) {
      for (const auto& [key, time] : blame) all[key] += time;
    }
    for (const auto& [key, time] : all) {
      found_.device_blame.push_back({kind, key.second, key.first, time});
      sum += time;
    }
  }

  // --- an idle device: what its host did meanwhile ---

  void blame_for_idle_devices() {
    std::vector<Blame> blames(run_.locations.size());
    parallel_for(blames.size(), threads_, [&](size_t i) {
      for (const DeviceGap& gap : graph_.device_gaps[run_.locations[i].index()]) {
        if (!gap.known || gap.handed_over <= gap.begin) continue;
        for_each_stretch(run_, gap.host, {}, gap.begin, gap.handed_over,
                         [&](Time begin, Time end, CallPathId path, const Wait*) {
                           blames[i][{gap.host, path}] += (end - begin).seconds();
                         });
      }
    });
    add_blame(blames, "idle device", found_.identities.device_idle_blame_s);
    for (LocationId id : run_.locations) {
      for (const DeviceGap& gap : graph_.device_gaps[id.index()]) {
        if (gap.known) found_.identities.device_idle_s += (gap.handed_over - gap.begin).seconds();
      }
    }
  }

  // --- a waiting host: what the process's streams executed meanwhile ---

  void blame_for_waiting_hosts() {
    std::vector<Blame> blames(run_.locations.size());
    parallel_for(blames.size(), threads_, [&](size_t i) {
      const LocationId host = run_.locations[i];
      if (run_.is_stream(host)) return;
      for (const Wait& wait : graph_.waits[host.index()]) {
        if (wait_kind(wait.pattern) == WaitKind::device) share(host, wait, blames[i]);
      }
    });
    add_blame(blames, "waiting host", found_.identities.device_wait_blame_s);
    for (LocationId host : run_.locations) {
      if (run_.is_stream(host)) continue;
      for (const Wait& wait : graph_.waits[host.index()]) {
        if (wait_kind(wait.pattern) == WaitKind::device) {
          found_.identities.device_wait_s += wait.amount.seconds();
        }
      }
    }
  }

  struct Change {
    Time time;
    const DeviceOperation* operation;
    LocationId stream;
    bool begins;
  };

  void share(LocationId host, const Wait& wait, Blame& blame) const {
    std::vector<Change> changes;
    const ProcessId process = run_.location(host).process;
    for (LocationId id : run_.definitions->processes[process.index()].locations) {
      if (run_.is_stream(id)) add_changes(id, wait, changes);
    }
    std::stable_sort(changes.begin(), changes.end(),
                     [](const Change& a, const Change& b) { return a.time < b.time; });
    // Tasks may run in the call: then less of it is waiting.
    const double part = wait.amount.seconds() / (wait.end - wait.begin).seconds();
    std::vector<std::pair<LocationId, CallPathId>> active;
    Time at = wait.begin;
    const auto pass = [&](Time until) {
      const double time = (until - at).seconds() * part;
      if (time > 0 && active.empty()) blame[{wait.cause, run_.device_idle}] += time;
      for (const auto& key : active) {
        if (time > 0) blame[key] += time / static_cast<double>(active.size());
      }
      at = until;
    };
    for (const Change& change : changes) {
      pass(change.time);
      const std::pair key(change.stream, change.operation->path);
      if (change.begins) {
        active.push_back(key);
      } else {
        active.erase(std::find(active.begin(), active.end(), key));
      }
    }
    pass(wait.end);
  }

  void add_changes(LocationId stream, const Wait& wait, std::vector<Change>& changes) const {
    const Column<DeviceOperation>& all = run_.at(stream).device.operations;
    const auto* next = std::partition_point(
        all.begin(), all.end(), [&](const DeviceOperation& o) { return o.end <= wait.begin; });
    for (; next != all.end() && next->begin < wait.end; ++next) {
      if (!replay::keeps_device_busy(next->kind) || next->begin == next->end) continue;
      changes.push_back({std::max(next->begin, wait.begin), next, stream, true});
      changes.push_back({std::min(next->end, wait.end), next, stream, false});
    }
  }

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

  void add_operations() {
    for (LocationId stream : run_.locations) {
      std::map<CallPathId, FoundDeviceOperation> rows;
      const replay::Activities& life = run_.at(stream).activities;
      size_t activity = 0;
      for (const DeviceOperation& operation : run_.at(stream).device.operations) {
        if (!replay::keeps_device_busy(operation.kind)) continue;
        FoundDeviceOperation fresh{operation.path, stream};
        fresh.kind = is_kernel(operation.kind)              ? "kernel"
                     : operation.kind == DeviceOpKind::copy ? "copy"
                                                            : "other";
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
      for (const auto& [path, row] : rows) found_.device_operations.push_back(row);
    }
  }

  // --- devices ---

  void add_devices() {
    const size_t count = replay::device_count(*run_.definitions);
    std::vector<Device> devices(count);
    for (LocationId stream : run_.locations) {
      if (run_.is_stream(stream)) {
        add_stream(stream, devices[replay::device_of(*run_.definitions, stream).index()]);
      }
    }
    for (Device& device : devices) merge(device.uses);
    gather(devices);
    if (run_.ranks->rank() != 0) return;
    double kernels = 0, most_kernels = 0, most_busy = 0;
    size_t used = 0;
    for (const Device& device : devices) {
      if (!device.first.valid()) continue;
      const FoundDevice row = describe(device);
      found_.devices.push_back(row);
      ++used;
      kernels += row.kernels_s;
      most_kernels = std::max(most_kernels, row.kernels_s);
      most_busy = std::max(most_busy, row.busy_s);
    }
    if (used == 0) return;
    const auto ratio = [](double part, double whole) { return whole > 0 ? part / whole : 1; };
    const double wall = run_.wall().seconds(), n = static_cast<double>(used);
    found_.efficiencies.push_back({"device", "", ratio(kernels, n * wall)});
    found_.efficiencies.push_back(
        {"device.load_balance", "device", ratio(kernels, n * most_kernels)});
    found_.efficiencies.push_back(
        {"device.communication", "device", ratio(most_kernels, most_busy)});
    found_.efficiencies.push_back({"device.orchestration", "device", ratio(most_busy, wall)});
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
    }
  }

  /// Kernels and the rest each become stretches that do not overlap.
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
    replay::Packer own;
    for (size_t key = 0; key < devices.size(); ++key) {
      if (!devices[key].first.valid() || run_.ranks->rank() == 0) continue;
      own.put(DeviceKey(key));
      own.put(devices[key].first);
      own.put(devices[key].sums);
      own.put_list(std::span<const Use>(devices[key].uses));
    }
    for (const replay::Parcel& parcel : replay::gather(*run_.ranks, own.take())) {
      for (replay::Unpacker from(parcel); !from.done();) {
        Device& device = devices[from.get<DeviceKey>().index()];
        device.first = std::min(device.first, from.get<LocationId>());
        const auto sums = from.get<Sums>();
        device.sums.idle_s += sums.idle_s;
        device.sums.late_s += sums.late_s;
        device.sums.unknown_s += sums.unknown_s;
        device.sums.operations += sums.operations;
        device.sums.bytes += sums.bytes;
        device.sums.pageable += sums.pageable;
        device.sums.streams += sums.streams;
        from.get_list<Use>([&](const Use& use) { device.uses.push_back(use); });
        merge(device.uses);
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
