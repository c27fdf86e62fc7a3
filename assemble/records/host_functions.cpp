// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Calls are numbered in their order, and a queue executes in it.
#include "assemble/records/host_functions.h"

#include <algorithm>

namespace culprit::assemble {
namespace {

class Finder {
 public:
  Finder(const DeviceLane& lane, const ProcessContext& process) : lane_(lane), process_(process) {}

  std::vector<HostFunctionRun> find() {
    std::vector<HostFunctionRun> found;
    size_t next = 0;
    for (const HostFunctionLaunch& launch : process_.survey.host_functions) {
      if (!is_of_queue(launch.queue)) continue;
      while (next < lane_.ops.size() && number(next) < launch.number) ++next;
      const Time entered = process_.time(launch.ticks);
      found.push_back({next, trace::OperationNumber{launch.number}, launch.address, entered,
                       latest_end(launch, next, entered)});
    }
    return found;
  }

 private:
  uint64_t number(size_t op) const { return static_cast<uint64_t>(lane_.ops[op].number); }

  bool is_of_queue(uint32_t number) const {
    const auto queue = process_.devices.queue_index.find(number);
    return queue != process_.devices.queue_index.end() && queue->second == lane_.queue;
  }

  Time begin_of(const DeviceOp& op) const {
    return process_.device_clocks[process_.devices.queues[lane_.queue].device].time(op.begin);
  }

  /// If the next operation had been handed over before the function could begin, that kept it
  /// waiting until it began; else the function may have ended long before.
  Time latest_end(const HostFunctionLaunch& function, size_t next, Time entered) const {
    Time could_begin = entered;
    if (next > 0) {
      const DeviceClock& clock =
          process_.device_clocks[process_.devices.queues[lane_.queue].device];
      could_begin = std::max(could_begin, clock.time(lane_.ops[next - 1].end));
    }
    if (next < lane_.ops.size()) {
      const auto& launches = process_.survey.device_launches;
      const auto launch = launches.find(number(next));
      const bool waited = launch != launches.end() && process_.time(launch->second) <= could_begin;
      if (waited) return begin_of(lane_.ops[next]);
    }
    if (function.waited_ticks != 0 && is_waited_for(function.wait)) {
      const Time waited = process_.time(function.waited_ticks);
      return next < lane_.ops.size() ? std::min(waited, begin_of(lane_.ops[next])) : waited;
    }
    return could_begin;
  }

  /// Whether a host's wait was for all that the queue had been given.
  bool is_waited_for(const raw::device_wait& wait) const {
    const ProcessDevices& devices = process_.devices;
    if (wait.what == trace::DeviceWaitFor::device) {
      const auto device = devices.device_index.find(wait.place);
      return device != devices.device_index.end() &&
             device->second == devices.queues[lane_.queue].device;
    }
    if (wait.what != trace::DeviceWaitFor::queue) return false;
    if (wait.place != trace::kRawNoQueue) return is_of_queue(wait.place);
    const auto call = devices.calls.find(wait.number);
    return call != devices.calls.end() && call->second.queue == lane_.queue;
  }

  const DeviceLane& lane_;
  const ProcessContext& process_;
};

}  // namespace

std::vector<HostFunctionRun> host_functions_of(const DeviceLane& lane,
                                               const ProcessContext& process) {
  if (lane.place > 0 || process.survey.host_functions.empty()) return {};
  return Finder(lane, process).find();
}

}  // namespace culprit::assemble
