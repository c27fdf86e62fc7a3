// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Times of operations are mapped from the device's clock as they are played; what overlaps or runs
// backwards has been cut before (devices.cpp).
#include "assemble/records/device_stream.h"

#include <fmt/format.h>

#include <algorithm>

#include "assemble/records/host_functions.h"
#include "trace/operation_names.h"

namespace culprit::assemble {
namespace {

using trace::CopyDirection;
using trace::DeviceOpKind;
using trace::Paradigm;
using trace::RegionRole;

class Visits {
 public:
  Visits(const DeviceLane& lane, const ProcessContext& process, trace::EventSink& sink)
      : lane_(lane),
        process_(process),
        sink_(sink),
        device_(process.devices.queues[lane.queue].device),
        paradigm_(trace::text(process.devices.devices[device_].api).paradigm) {}

  LaneResult play() {
    const std::vector<HostFunctionRun> functions = host_functions_of(lane_, process_);
    size_t next = 0;
    for (size_t i = 0; i <= lane_.ops.size(); ++i) {
      for (; next < functions.size() && functions[next].before == i; ++next) {
        visit(functions[next]);
      }
      if (i < lane_.ops.size()) visit(lane_.ops[i]);
    }
    return result_;
  }

 private:
  RegionId region(const DeviceOp& op) {
    const RegionRole role = trace::operation_role(op.kind);
    if (op.name != 0) {
      const auto [known, is_new] = named_.try_emplace(op.name);
      const auto text = process_.devices.names.find(op.name);
      if (is_new && text != process_.devices.names.end()) {
        known->second = process_.regions.on_device(readable_name(text->second), role, paradigm_);
      }
      if (known->second.valid()) return known->second;
    }
    return process_.regions.on_device(trace::operation_name(op.kind, op.direction), role,
                                      paradigm_);
  }

  /// No operation begins before it is handed over, whatever the clocks say.
  Time begin_of(const DeviceOp& op) {
    const Time begin = process_.device_clocks[device_].time(op.begin);
    if (op.number == trace::OperationNumber::none) return begin;  // pages move by themselves
    const auto& launches = process_.survey.device_launches;
    const auto launch = launches.find(static_cast<uint64_t>(op.number));
    if (launch == launches.end()) {
      ++result_.without_launch;
      return begin;
    }
    const Time entered = process_.time(launch->second);
    if (begin < entered) ++result_.before_launch;
    return std::max(begin, entered);
  }

  trace::DeviceOperation told(const DeviceOp& op) const {
    trace::DeviceOperation told;
    told.operation = op.number;
    told.kind = op.kind;
    told.direction = op.direction;
    told.memory = op.memory;
    told.bytes = op.bytes;
    told.graph_node = op.graph_node;
    if (op.submitted != 0) told.submitted = process_.device_clocks[device_].time(op.submitted);
    return told;
  }

  void visit(const DeviceOp& op) {
    visit(begin_of(op), process_.device_clocks[device_].time(op.end), region(op), told(op));
  }

  void visit(const HostFunctionRun& run) {
    const Code& code = process_.code.before(run.address + 1);
    const RegionId named = code.frames.empty() ? RegionId::none() : code.frames.back().region;
    trace::DeviceOperation operation;
    operation.operation = run.number;
    operation.kind = DeviceOpKind::host;
    visit(run.earliest, run.latest,
          named.valid()
              ? named
              : process_.regions.on_device(trace::operation_name(operation.kind),
                                           trace::operation_role(operation.kind), paradigm_),
          operation);
  }

  void visit(Time begin, Time end, RegionId visited, const trace::DeviceOperation& operation) {
    begin = last_ = std::max(last_, begin);
    end = last_ = std::max(last_, end);
    sink_.enter(begin, visited);
    sink_.device_operation(begin, operation);
    sink_.leave(end, visited);
    result_.events += 3;
  }

  const DeviceLane& lane_;
  const ProcessContext& process_;
  trace::EventSink& sink_;
  uint32_t device_;
  Paradigm paradigm_;
  std::unordered_map<uint32_t, RegionId> named_;
  LaneResult result_;
  Time last_;
};

}  // namespace

std::vector<DeviceClock> device_clocks(const ProcessDevices& devices, const Clock& clock,
                                       size_t process) {
  std::vector<DeviceClock> clocks;
  for (const RecordedDevice& device : devices.devices) {
    std::vector<DeviceClock::Moment> moments;
    for (const DeviceMoment& moment : device.moments) {
      moments.push_back({moment.nanoseconds, clock.time(process, moment.ticks_at_least),
                         clock.time(process, moment.ticks_at_most)});
    }
    clocks.emplace_back(std::move(moments));
  }
  return clocks;
}

LaneResult play_lane(const DeviceLane& lane, const ProcessContext& process,
                     trace::EventSink& sink) {
  return Visits(lane, process, sink).play();
}

std::string lane_name(const DeviceLane& lane, const ProcessDevices& devices) {
  const DeviceQueue& queue = devices.queues[lane.queue];
  const RecordedDevice& device = devices.devices[queue.device];
  const std::string_view word = trace::text(device.api).queue;
  std::string name = queue.number == trace::kRawMigrations
                         ? fmt::format("page migration of {}", device.name)
                         : fmt::format("{} {} of {}", word, queue.number, device.name);
  if (lane.place > 0) name += fmt::format(" ({})", lane.place + 1);
  return name;
}

}  // namespace culprit::assemble
