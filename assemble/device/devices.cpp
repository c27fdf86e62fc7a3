// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// From records in the order in which they became known to lanes in the order of time: definitions
// first, then operations by queue, then as many lanes of a queue as its operations need to nest.
// Records that contradict each other are counted, and left out.
#include "assemble/device/devices.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace culprit::assemble {
namespace {

using trace::RawDeviceLoss;
using trace::RawKind;

/// Queues that keep their order can seem to overlap by the uncertainty of their clock.
constexpr uint64_t kUncertain = 1000;  // ns
/// Sums and differences of times stay within 64 bits.
constexpr uint64_t kFarthest = uint64_t{1} << 61;

template <class Enum>
Enum enum_of(unsigned value, Enum last, Enum otherwise) {
  return value <= static_cast<unsigned>(last) ? static_cast<Enum>(value) : otherwise;
}

class Reader {
 public:
  Reader(ProcessDevices& result, Losses& losses) : result_(result), losses_(losses) {}

  void read(const RawLog& log) {
    first_name_ = last_name_;
    auto cursor = log.cursor();
    for (RawRecord record; cursor.next(record);) see(record);
    senseless_ += cursor.skipped() + (cursor.damaged() ? 1 : 0);
  }

  void finish() {
    find_recordings();
    for (uint32_t queue = 0; queue < ops_.size(); ++queue) make_lanes(queue);
    report();
  }

 private:
  void see(const RawRecord& record) {
    switch (record.kind) {
      case RawKind::string_def:
        return define_name(record);
      case RawKind::device_def:
        return define_device(record);
      case RawKind::device_queue_def:
        return define_queue(record.as<raw::device_queue_def>());
      case RawKind::device_op:
        return operation(record.as<raw::device_op>());
      case RawKind::device_clock:
        return moment(record.as<raw::device_clock>());
      case RawKind::device_point:
        return point(record.as<raw::device_point>());
      case RawKind::device_overhead:
        return runtime_took(record.as<raw::device_overhead>());
      case RawKind::device_lost:
        return lose(record.as<raw::device_lost>());
      case RawKind::device_runtime:
        return runtime(record);
      case RawKind::tool_begin:
      case RawKind::tool_end:
        return;  // the collector's work on the log, which no device waits for
      default:
        ++senseless_;
    }
  }

  void define_name(const RawRecord& record) {
    const auto text = record.as<raw::string_def>();
    last_name_ = std::max(last_name_, first_name_ + text.string);
    result_.names[first_name_ + text.string] =
        text_in(record.rest_of<raw::string_def>(), text.length);
  }

  void define_device(const RawRecord& record) {
    const auto device = record.as<raw::device_def>();
    const auto texts = record.rest_of<raw::device_def>();
    const auto index = static_cast<uint32_t>(result_.devices.size());
    const trace::DeviceApiText* const api = trace::find_device_api(device.api);
    if (api == nullptr || !result_.device_index.emplace(device.device, index).second) {
      return void(++senseless_);
    }
    result_.devices.push_back({api->api,
                               std::string(text_in(texts, device.name)),
                               std::string(text_in(texts, device.place, device.name)),
                               {}});
  }

  void define_queue(const raw::device_queue_def& queue) {
    const auto device = result_.device_index.find(queue.device);
    const auto index = static_cast<uint32_t>(result_.queues.size());
    if (device == result_.device_index.end() ||
        !result_.queue_index.emplace(queue.queue, index).second) {
      return void(++senseless_);
    }
    result_.queues.push_back(
        {device->second, queue.context, queue.number, (queue.overtakes & 1) != 0});
    ops_.emplace_back();
  }

  void operation(const raw::device_op& told) {
    const auto queue = result_.queue_index.find(told.queue);
    if (queue == result_.queue_index.end()) return void(++senseless_);
    DeviceOp op;
    op.number = trace::OperationNumber{told.number};
    op.begin = told.begin;
    op.end = told.end;
    op.name = told.name == 0 ? 0 : first_name_ + told.name;
    op.graph_node = told.node;
    op.bytes = told.bytes;
    op.queued = told.queued;
    op.submitted = told.submitted;
    const unsigned flags = told.what;
    op.kind = enum_of(flags & 0xff, trace::kLastDeviceOpKind, trace::DeviceOpKind::other);
    op.direction = enum_of(flags >> trace::raw_device_op::kDirectionShift & 0xf,
                           trace::kLastCopyDirection, trace::CopyDirection::none);
    op.memory = enum_of(flags >> trace::raw_device_op::kMemoryShift & 0xf, trace::kLastHostMemory,
                        trace::HostMemory::unknown);
    if (op.begin == 0 || op.end == 0) return void(++without_times_);
    if (std::max({op.begin, op.end, op.queued, op.submitted}) > kFarthest) {
      return void(++senseless_);
    }
    if (op.begin > op.end) return void(++reversed_);
    ops_[queue->second].push_back(op);
    if (op.kind == trace::DeviceOpKind::copy && op.memory == trace::HostMemory::pageable) {
      result_.pageable_copies.emplace(told.number, op.end);
    }
    // Numbers of 32 bits are the runtime's own: its calls do not name the queue.
    if (told.number != 0 && told.number <= UINT32_MAX) {
      result_.queue_of_operation.emplace(told.number, queue->second);
    }
  }

  void moment(const raw::device_clock& met) {
    const auto device = result_.device_index.find(met.device);
    if (device == result_.device_index.end() || met.earliest > met.latest || met.time > kFarthest) {
      return void(++senseless_);
    }
    result_.devices[device->second].moments.push_back({met.time, met.earliest, met.latest});
  }

  void runtime_took(const raw::device_overhead& took) {
    if (took.what > trace::RawDeviceTime::full_queue) return void(++senseless_);
    if (took.what == trace::RawDeviceTime::tools) {
      result_.overhead_ns += took.time;
    } else if (took.number != 0 && took.begin != 0) {
      if (std::max(took.begin, took.time) > kFarthest) return void(++senseless_);
      result_.runtime_times[took.number].push_back({took.what, took.begin, took.begin + took.time});
    }
  }

  void lose(const raw::device_lost& lost) {
    const auto what = static_cast<size_t>(lost.what);
    if (what < kLosses) lost_[what] += lost.count;
  }

  void point(const raw::device_point& point) {
    using Point = trace::RawDevicePoint;
    if (point.what > Point::host_waits) return void(++senseless_);
    DeviceCall call;
    call.what = point.what;
    if (call.what == Point::host_waits_for_device) {
      if (!result_.device_index.contains(point.place)) return void(++senseless_);
    } else if (point.place != trace::kRawNoQueue || needs_queue(call.what)) {
      const auto queue = result_.queue_index.find(point.place);
      if (queue == result_.queue_index.end()) return void(++senseless_);
      call.queue = queue->second;
    }
    result_.calls.emplace(point.number, call);
    if (call.what == Point::event_recorded) {
      result_.queue_of_operation.emplace(point.number, call.queue);
      recordings_[point.event].push_back(point.number);
      if (point.recording != 0) recording_of_sync_.emplace(point.recording, point.number);
    } else {
      waits_.push_back({point.number, point.event, point.recording});
    }
    if (call.what == Point::queue_waits_for_event) {
      result_.queue_of_operation.emplace(point.number, call.queue);
    }
  }

  static bool needs_queue(trace::RawDevicePoint what) {
    return what == trace::RawDevicePoint::event_recorded ||
           what == trace::RawDevicePoint::queue_waits_for_event;
  }

  /// A call that waits for an event waits for its last recording before the wait; calls are
  /// numbered in their order.
  void find_recordings() {
    for (auto& [event, numbers] : recordings_) std::sort(numbers.begin(), numbers.end());
    for (const EventWait& wait : waits_) {
      uint64_t found = 0;
      const auto sync = recording_of_sync_.find(wait.sync);
      const auto event = recordings_.find(wait.event);
      if (wait.sync != 0 && sync != recording_of_sync_.end()) {
        found = sync->second;
      } else if (event != recordings_.end()) {
        const auto& numbers = event->second;
        const auto after = std::lower_bound(numbers.begin(), numbers.end(), wait.number);
        if (after != numbers.begin()) found = *(after - 1);
      }
      result_.calls[wait.number].recording = trace::OperationNumber{found};
    }
  }

  void runtime(const RawRecord& record) {
    const uint16_t what = record.as<raw::device_runtime>().what;
    const auto refusal = static_cast<trace::RawDeviceRefusal>(what >> 8);
    if (refusal == trace::RawDeviceRefusal::none) {
      if (result_.begun_ticks == 0) result_.begun_ticks = record.ticks;
      return;
    }
    const trace::DeviceApiText* const api = trace::find_device_api(trace::DeviceApi(what & 0xff));
    if (api == nullptr) return void(++senseless_);
    const auto words = record.rest_of<raw::device_runtime>();
    std::string_view why = text_in(words, words.size_bytes());
    why = why.substr(0, why.find('\0'));
    const bool ends_here = result_.begun_ticks != 0;
    if (ends_here) result_.left_ticks = record.ticks;
    const char* reason = refusal == trace::RawDeviceRefusal::other_tool
                             ? "another tool is using its tools interface, which accepts only one"
                         : refusal == trace::RawDeviceRefusal::no_tools
                             ? "its tools library was not found or is too old"
                             : "it refused the measurement";
    result_.refusals.push_back(fmt::format("The program's use of {} was not observed{}: {}{}{}{}.",
                                           api->name, ends_here ? " to its end" : "", reason,
                                           why.empty() ? "" : " (", why, why.empty() ? "" : ")"));
  }

  /// The first lane that is free takes an operation, so most queues have one.
  void make_lanes(uint32_t queue) {
    std::vector<DeviceOp>& ops = ops_[queue];
    std::stable_sort(ops.begin(), ops.end(), [](const DeviceOp& a, const DeviceOp& b) {
      return a.begin != b.begin ? a.begin < b.begin : a.end < b.end;
    });
    const DeviceQueue& facts = result_.queues[queue];
    const bool in_order =
        !facts.out_of_order && trace::text(result_.devices[facts.device].api).in_order;
    const size_t first = result_.lanes.size();
    result_.lanes.push_back({queue, 0, {}});
    for (DeviceOp& op : ops) {
      size_t lane = first;
      for (; lane < result_.lanes.size(); ++lane) {
        const auto& before = result_.lanes[lane].ops;
        const uint64_t free = before.empty() ? 0 : before.back().end;
        if (op.begin < free && !in_order && free - op.begin > kUncertain) continue;
        op.begin = std::max(op.begin, free);
        op.end = std::max(op.end, op.begin);
        break;
      }
      if (lane == result_.lanes.size()) {
        result_.lanes.push_back({queue, static_cast<uint32_t>(lane - first), {}});
      }
      result_.lanes[lane].ops.push_back(op);
    }
    ops = {};
  }

  uint64_t lost(RawDeviceLoss what) const { return lost_[static_cast<size_t>(what)]; }

  void report() {
    losses_.add(LossKind::device_records_senseless, senseless_);
    losses_.add(LossKind::device_times_missing, without_times_ + lost(RawDeviceLoss::no_times));
    losses_.add(LossKind::device_times_reversed, reversed_);
    losses_.add(LossKind::device_ops_unfinished, lost(RawDeviceLoss::unfinished));
    losses_.add(LossKind::device_ops_not_followed, lost(RawDeviceLoss::no_room));
    losses_.add(LossKind::device_records_dropped, lost(RawDeviceLoss::dropped));
    losses_.add(LossKind::device_flushes_hung, lost(RawDeviceLoss::hung_flush));
    losses_.add(LossKind::device_not_observed, result_.refusals.size());
  }

  static constexpr size_t kLosses = 5;
  struct EventWait {
    uint64_t number, event, sync;
  };

  std::unordered_map<uint64_t, std::vector<uint64_t>> recordings_;  ///< numbers, by event
  std::unordered_map<uint64_t, uint64_t> recording_of_sync_;
  std::vector<EventWait> waits_;

  ProcessDevices& result_;
  Losses& losses_;
  std::vector<std::vector<DeviceOp>> ops_;  ///< by queue
  uint32_t first_name_ = 0, last_name_ = 0;
  uint64_t lost_[kLosses] = {};
  uint64_t senseless_ = 0, without_times_ = 0, reversed_ = 0;
};

}  // namespace

ProcessDevices read_devices(const std::vector<RawLog>& logs, Losses& losses) {
  ProcessDevices result;
  Reader reader(result, losses);
  for (const RawLog& log : logs) reader.read(log);
  reader.finish();
  return result;
}

}  // namespace culprit::assemble
