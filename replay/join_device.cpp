// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "replay/join_device.h"

#include <algorithm>

#include "base/parallel.h"

namespace culprit::replay {

namespace {

using trace::DeviceOpKind;
using trace::OperationNumber;

/// Whose absence on the other side is a loss: marks and waits may leave no trace there.
constexpr bool must_be_joined(DeviceOpKind kind) {
  return kind == DeviceOpKind::kernel || kind == DeviceOpKind::copy || kind == DeviceOpKind::fill ||
         kind == DeviceOpKind::graph;
}

class Joiner {
 public:
  Joiner(Run& run, const DeviceProcess& process, Losses& losses)
      : run_(run), process_(process), losses_(losses) {}

  void join() {
    if (run_.definitions->devices.empty()) number_by_order();
    const OperationIndex index(run_, process_);
    uint64_t launched = 0, joined = 0, orphans = 0;
    for (LocationId stream : process_.streams) {
      for (DeviceOperation& operation : run_.at(stream).device.operations) {
        const auto place = index.launched(operation.operation);
        if (place) operation.launch = {place->location, place->index};
        if (!must_be_joined(operation.kind)) continue;
        ++(place ? joined : orphans);
      }
    }
    for (LocationId host : process_.hosts) {
      for (const DeviceLaunch& launch : run_.at(host).device.launches) {
        launched += must_be_joined(launch.kind);
      }
    }
    losses_.add("device_operations_without_launch", Severity::warning,
                "operations of devices of which it is not known who launched them: nobody is "
                "blamed for a device that was idle before",
                orphans);
    losses_.add("device_launches_without_operation", Severity::warning,
                "operations were launched that the trace does not show on any stream: the device "
                "may have been busy where it looks idle",
                launched - std::min(joined, launched));
  }

 private:
  struct Launched {
    Time enter;
    LocationId host;
    uint32_t index;
  };

  /// Archives that number nothing.
  void number_by_order() {
    drop_waits_for_unknown_queues();
    if (process_.streams.size() != 1) return;
    using enum trace::CopyDirection;
    number(DeviceOpKind::kernel, none, {DeviceCall::launch, DeviceCall::launch});
    number(DeviceOpKind::copy, to_device, {DeviceCall::copy_in, DeviceCall::copy_in});
    number(DeviceOpKind::copy, from_device, {DeviceCall::copy_out, DeviceCall::copy_out_async});
    name_own_operations();
  }

  void number(DeviceOpKind kind, trace::CopyDirection direction,
              std::pair<DeviceCall, DeviceCall> calls) {
    std::vector<Launched> launched;
    for (LocationId host : process_.hosts) {
      const auto& launches = run_.at(host).device.launches;
      for (uint32_t i = 0; i < launches.size(); ++i) {
        const auto call = static_cast<DeviceCall>(launches[i].queue);
        if (call != calls.first && call != calls.second) continue;
        launched.push_back({run_.call(host, launches[i].call).enter, host, i});
      }
    }
    std::stable_sort(launched.begin(), launched.end(),
                     [](const Launched& a, const Launched& b) { return a.enter < b.enter; });
    std::vector<DeviceOperation*> executed;
    for (DeviceOperation& operation : run_.at(process_.streams[0]).device.operations) {
      if (operation.kind == kind && operation.direction == direction) {
        executed.push_back(&operation);
      }
    }
    if (executed.size() != launched.size()) return;
    for (size_t i = 0; i < executed.size(); ++i) {
      if (executed[i]->end < launched[i].enter) return;
    }
    for (size_t i = 0; i < executed.size(); ++i) {
      const OperationNumber number{++numbers_};
      executed[i]->operation = number;
      run_.at(launched[i].host).device.launches[launched[i].index].operation = number;
    }
  }

  /// Of blocking copies.
  void name_own_operations() {
    for (LocationId host : process_.hosts) {
      DeviceFacts& facts = run_.at(host).device;
      size_t next = 0;
      for (DeviceWait& wait : facts.waits) {
        if (wait.what != trace::DeviceWaitFor::operation) continue;
        while (next < facts.launches.size() && facts.launches[next].call < wait.call) ++next;
        if (next < facts.launches.size() && facts.launches[next].call == wait.call) {
          wait.operation = facts.launches[next].operation;
        }
        // Which copy it was is not known, but it was the last thing in the only stream then.
        if (wait.operation == OperationNumber::none) {
          wait.what = trace::DeviceWaitFor::queue;
          wait.queue = run_.location(process_.streams[0]).queue;
        }
      }
    }
  }

  /// Which stream it was is not told.
  void drop_waits_for_unknown_queues() {
    if (process_.streams.size() <= 1) return;
    uint64_t dropped = 0;
    for (LocationId host : process_.hosts) {
      Column<DeviceWait>& waits = run_.at(host).device.waits;
      size_t kept = 0;
      for (const DeviceWait& wait : waits) {
        if (wait.what == trace::DeviceWaitFor::device) {
          waits[kept++] = wait;
        } else {
          ++dropped;
        }
      }
      waits.resize_uninitialized(kept);
    }
    losses_.add("device_waits_for_unknown_queues", Severity::warning,
                "calls that wait for a stream, or for a copy, of which the archive does not tell "
                "which: their time counts as work",
                dropped);
  }

  Run& run_;
  const DeviceProcess& process_;
  Losses& losses_;
  uint64_t numbers_ = 0;
};

}  // namespace

DeviceProcess::DeviceProcess(const Run& run, ProcessId process) {
  for (LocationId id : run.definitions->processes[process.index()].locations) {
    if (!run.at(id).empty()) (run.is_stream(id) ? streams : hosts).push_back(id);
  }
  std::sort(hosts.begin(), hosts.end());
  std::sort(streams.begin(), streams.end());
}

OperationIndex::OperationIndex(const Run& run, const DeviceProcess& process) {
  const auto add = [](std::vector<Place>& places, FlatMap& index, OperationNumber operation,
                      const Place& place) {
    if (operation == OperationNumber::none) return;
    const auto fresh = static_cast<uint32_t>(places.size());
    if (index.at(static_cast<uint64_t>(operation), fresh) == fresh) places.push_back(place);
  };
  for (LocationId stream : process.streams) {
    const auto& operations = run.at(stream).device.operations;
    for (uint32_t i = 0; i < operations.size(); ++i) {
      add(operations_, operation_of_, operations[i].operation, {stream, i});
    }
  }
  for (LocationId host : process.hosts) {
    const auto& launches = run.at(host).device.launches;
    for (uint32_t i = 0; i < launches.size(); ++i) {
      add(launches_, launch_of_, launches[i].operation, {host, i});
    }
  }
}

std::optional<OperationIndex::Place> OperationIndex::find(const std::vector<Place>& places,
                                                          const FlatMap& index,
                                                          OperationNumber operation) {
  const uint32_t place = index.find(static_cast<uint64_t>(operation));
  if (place == FlatMap::kNone) return std::nullopt;
  return places[place];
}

void join_device(Run& run, unsigned threads) {
  const size_t processes = run.definitions->processes.size();
  std::vector<Losses> losses(processes);
  parallel_for(processes, threads, [&](size_t p) {
    const DeviceProcess process(run, ProcessId(p));
    if (!process.streams.empty() || !process.hosts.empty()) {
      Joiner(run, process, losses[p]).join();
    }
  });
  for (const Losses& loss : losses) run.losses.merge(loss);
}

}  // namespace culprit::replay
