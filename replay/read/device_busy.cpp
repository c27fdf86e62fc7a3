// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Computes unions of intervals, by merging streams' operations in order. Where ranks share a device
// they exchange their unions.
#include "replay/read/device_busy.h"

#include <algorithm>

#include "base/parallel.h"
#include "base/ranks/exchange.h"

namespace culprit::replay {

namespace {

/// Sorts and merges intervals that touch or overlap.
void merge_busy(std::vector<DeviceBusy>& busy) {
  std::sort(busy.begin(), busy.end(), [](const DeviceBusy& a, const DeviceBusy& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.first < b.first;
  });
  size_t merged = 0;
  for (const DeviceBusy& next : busy) {
    if (merged == 0 || next.begin > busy[merged - 1].end) {
      busy[merged++] = next;
      continue;
    }
    DeviceBusy& last = busy[merged - 1];
    if (next.end > last.end) last.last = next.last;
    if (next.end == last.end) last.last = std::min(last.last, next.last);
    last.end = std::max(last.end, next.end);
  }
  busy.resize(merged);
}

std::vector<DeviceBusy> busy_of(const Run& run, LocationId stream) {
  std::vector<DeviceBusy> busy;
  for (const DeviceOperation& operation : run.at(stream).device.operations) {
    if (!keeps_device_busy(operation.kind) || operation.begin == operation.end) continue;
    busy.push_back({operation.begin, operation.end, stream, stream});
  }
  return busy;
}

/// By DeviceKey: whether processes of several ranks use a device. The same on all ranks.
std::vector<bool> shared_by_ranks(const Run& run) {
  std::vector<size_t> owner(device_count(*run.definitions), SIZE_MAX);
  std::vector<bool> shared(owner.size());
  for (size_t i = 0; i < run.definitions->locations.size(); ++i) {
    const LocationId id(i);
    if (!run.is_stream(id)) continue;
    const size_t key = device_of(*run.definitions, id).index();
    shared[key] = shared[key] || (owner[key] != SIZE_MAX && owner[key] != run.owner(id));
    owner[key] = run.owner(id);
  }
  return shared;
}

/// Puts one path after the other; what lasts no time leaves nothing.
class Life {
 public:
  explicit Life(Activities& activities) : activities_(activities) { activities_ = {}; }
  void at(Time begin, CallPathId path) {
    if (!activities_.empty() && activities_.begins().back() >= begin) {
      activities_.paths().back() = path;
    } else if (activities_.empty() || activities_.paths().back() != path) {
      activities_.push_back(begin, path);
    }
  }

 private:
  Activities& activities_;
};

}  // namespace

bool has_streams(const trace::Definitions& definitions) {
  return std::any_of(definitions.locations.begin(), definitions.locations.end(),
                     [](const trace::Location& location) {
                       return location.kind == trace::LocationKind::accelerator_stream;
                     });
}

DeviceKey device_of(const trace::Definitions& definitions, LocationId stream) {
  const trace::Location& location = definitions.locations[stream.index()];
  if (location.device.valid()) return DeviceKey(location.device.index());
  return DeviceKey(definitions.devices.size() + location.process.index());
}

size_t device_count(const trace::Definitions& definitions) {
  return definitions.devices.size() + definitions.processes.size();
}

std::vector<std::vector<DeviceBusy>> devices_busy(const Run& run, unsigned threads) {
  std::vector<std::vector<DeviceBusy>> busy(device_count(*run.definitions));
  std::vector<std::vector<LocationId>> streams(busy.size());
  for (LocationId id : run.locations) {
    if (run.is_stream(id)) streams[device_of(*run.definitions, id).index()].push_back(id);
  }
  parallel_for(busy.size(), threads, [&](size_t key) {
    for (LocationId id : streams[key]) {
      const std::vector<DeviceBusy> own = busy_of(run, id);
      busy[key].insert(busy[key].end(), own.begin(), own.end());
    }
    merge_busy(busy[key]);
  });
  if (run.ranks->alone()) return busy;
  const std::vector<bool> shared = shared_by_ranks(run);
  if (std::find(shared.begin(), shared.end(), true) == shared.end()) return busy;
  Packer told;
  for (size_t key = 0; key < busy.size(); ++key) {
    if (shared[key]) told.put_list(std::span<const DeviceBusy>(busy[key]));
  }
  for (auto& list : busy) {
    if (shared[static_cast<size_t>(&list - busy.data())]) list.clear();
  }
  for (const Parcel& parcel : gather_everywhere(*run.ranks, told.take())) {
    Unpacker others(parcel);
    for (size_t key = 0; key < busy.size(); ++key) {
      if (!shared[key]) continue;
      others.get_list<DeviceBusy>([&](const DeviceBusy& b) {
        if (!streams[key].empty()) busy[key].push_back(b);
      });
    }
  }
  for (size_t key = 0; key < busy.size(); ++key) {
    if (shared[key]) merge_busy(busy[key]);
  }
  return busy;
}

void build_stream_life(Run& run, LocationId stream, std::span<const DeviceBusy> busy,
                       std::span<const Time> ready) {
  Timeline& line = run.at(stream);
  const Timeline& master = run.at(run.master_of(stream));
  const Time born = master.empty() ? line.first : std::min(master.first, line.first);
  Life life(line.activities);
  life.at(run.begin, run.not_started);
  Time idle_since = born;
  size_t next = 0;  // the first that ends after idle_since
  const auto idle_until = [&](Time until) {
    life.at(idle_since, run.device_idle);
    while (next < busy.size() && busy[next].end <= idle_since) ++next;
    for (size_t b = next; b < busy.size() && busy[b].begin < until; ++b) {
      life.at(std::max(busy[b].begin, idle_since), run.stream_idle);
      if (busy[b].end < until) life.at(busy[b].end, run.device_idle);
    }
  };
  const Column<DeviceOperation>& operations = line.device.operations;
  for (size_t i = 0; i < operations.size(); ++i) {
    const DeviceOperation& operation = operations[i];
    const Time could = ready.empty() ? operation.begin : ready[i];
    if (idle_since < could) idle_until(could);
    if (could < operation.begin) life.at(std::max(could, idle_since), run.launch_latency);
    if (operation.begin < operation.end) life.at(operation.begin, operation.path);
    idle_since = std::max(idle_since, operation.end);
  }
  const Time died = master.empty() ? line.last : std::max(master.last, line.last);
  if (idle_since < died) idle_until(died);
  if (died < run.end) life.at(died, run.ended);
  line.activities.set_end(run.end);
}

}  // namespace culprit::replay
