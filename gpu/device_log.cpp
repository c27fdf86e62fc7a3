// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The devices' side: one log, which belongs to no thread, behind one lock that is held for a few
// stores and never across a call into foreign code. Records go straight into the mapped file, so
// nothing accumulates here, and all records survive any death of the program.
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <string>
#include <unordered_map>

#include "collector/process/recorder.h"
#include "gpu/face.h"
#include "gpu/lock.h"

namespace culprit::gpu {

namespace {

using collector::now;
using collector::ThreadLog;
namespace raw = trace::raw;

constexpr size_t kTextBytes = 2000;

struct Text {
  uint64_t words[256] = {};
  size_t bytes = 0;

  /// Returns how much of `more` there was room for.
  size_t add(std::string_view more) {
    const size_t length = std::min(more.size(), kTextBytes - std::min(kTextBytes, bytes));
    memcpy(reinterpret_cast<char*>(words) + bytes, more.data(), length);
    bytes += length;
    return length;
  }
  unsigned count() const { return static_cast<unsigned>((bytes + 7) / 8); }
};

/// Never torn down: other threads may be anywhere when the process exits.
struct DeviceLog {
  ThreadLog* log = nullptr;
  uint32_t first = 0;  ///< of all numbers
  uint32_t devices = 0;
  uint32_t queues = 0;
  std::unordered_map<std::string, uint32_t> names;
};

pthread_mutex_t g_mutex = PTHREAD_MUTEX_INITIALIZER;
DeviceLog* g_state = nullptr;
std::atomic<bool> g_begun{false};

/// Calls `write(state)` with the log at hand, if there is one.
template <class Write>
void with_log(Write write) {
  if (!is_on()) return;
  const Lock lock(g_mutex);
  write(*g_state);
}

/// True in children of a process with devices: devices, what backends know of them, and the log of
/// what they do are the parent's, and locks may be held by threads that are not there any more.
std::atomic<bool> g_is_the_parents{false};

void forget_in_forked_child() {
  g_is_the_parents.store(true, std::memory_order_relaxed);
  g_begun.store(false, std::memory_order_relaxed);
}

}  // namespace

bool begin_device_log(DeviceApi api) {
  if (g_is_the_parents.load(std::memory_order_relaxed)) return false;
  if (g_begun.load(std::memory_order_acquire)) return collector::is_active();
  if (!collector::activate()) return false;
  static const int follows = pthread_atfork(nullptr, nullptr, forget_in_forked_child);
  static_cast<void>(follows);
  const Lock lock(g_mutex);
  if (g_begun.load(std::memory_order_relaxed)) return true;
  ThreadLog* const log = collector::make_extra_log();
  if (log == nullptr) return false;
  g_state = new DeviceLog;
  g_state->log = log;
  g_state->first = static_cast<uint32_t>(api) << trace::kRawDeviceApiShift;
  g_begun.store(true, std::memory_order_release);
  return true;
}

bool is_on() {
  return g_begun.load(std::memory_order_acquire) && collector::is_active();
}

DeviceNumber add_device(const DeviceInfo& info) {
  uint32_t number = 0;
  with_log([&](DeviceLog& state) {
    Text text;
    const size_t name = text.add(info.name.substr(0, kTextBytes / 2));
    const size_t place = text.add(info.identity);
    number = state.first + state.devices++;
    const raw::device_def device{.device = number,
                                 .api = info.api,
                                 .name = static_cast<uint32_t>(name),
                                 .place = static_cast<uint32_t>(place)};
    state.log->put(now(), device, text.words, text.count());
  });
  return DeviceNumber{number};
}

QueueNumber add_queue(const QueueInfo& info) {
  uint32_t number = trace::kRawNoQueue;
  with_log([&](DeviceLog& state) {
    number = state.first + state.queues++;
    state.log->put(now(), raw::device_queue_def{.queue = number,
                                                .overtakes = info.out_of_order,
                                                .device = static_cast<uint32_t>(info.device),
                                                .context = info.context,
                                                .number = info.number});
  });
  return QueueNumber{number};
}

NameNumber number_of_name(std::string_view text) {
  uint32_t number = 0;
  with_log([&](DeviceLog& state) {
    Text kept;
    const size_t length = kept.add(text);
    const auto next = static_cast<uint32_t>(state.names.size() + 1);
    const auto [known, is_new] = state.names.try_emplace(std::string(text.substr(0, length)), next);
    number = known->second;
    if (!is_new) return;
    const raw::string_def definition{.string = number, .length = static_cast<uint16_t>(length)};
    state.log->put(now(), definition, kept.words, kept.count());
  });
  return NameNumber{number};
}

void operation_executed(const Operation& op) {
  const auto what = static_cast<uint16_t>(
      static_cast<unsigned>(op.kind) |
      static_cast<unsigned>(op.direction) << trace::raw_device_op::kDirectionShift |
      static_cast<unsigned>(op.memory) << trace::raw_device_op::kMemoryShift);
  const raw::device_op operation{.queue = static_cast<uint32_t>(op.queue),
                                 .what = what,
                                 .number = static_cast<uint64_t>(op.number),
                                 .begin = op.begin,
                                 .end = op.end,
                                 .name = static_cast<uint32_t>(op.name),
                                 .node = op.graph_node,
                                 .bytes = op.bytes,
                                 .queued = op.queued,
                                 .submitted = op.submitted};
  with_log([&](DeviceLog& state) { state.log->put(now(), operation); });
}

void point_passed(const Point& point) {
  const bool of_device = point.what == RawDevicePoint::host_waits_for_device;
  const uint32_t place =
      of_device ? static_cast<uint32_t>(point.device) : static_cast<uint32_t>(point.queue);
  with_log([&](DeviceLog& state) {
    state.log->put(now(), raw::device_point{.place = place,
                                            .what = point.what,
                                            .number = static_cast<uint64_t>(point.number),
                                            .event = point.event,
                                            .recording = point.event_sync});
  });
}

void runtime_took(RawDeviceTime what, uint64_t begin, uint64_t end, OperationNumber number) {
  if (end <= begin) return;
  with_log([&](DeviceLog& state) {
    state.log->put(now(), raw::device_overhead{.what = what,
                                               .time = end - begin,
                                               .number = static_cast<uint64_t>(number),
                                               .begin = begin});
  });
}

void clock_was(DeviceNumber device, uint64_t nanoseconds, uint64_t ticks_at_least,
               uint64_t ticks_at_most) {
  with_log([&](DeviceLog& state) {
    state.log->put(now(), raw::device_clock{.device = static_cast<uint32_t>(device),
                                            .time = nanoseconds,
                                            .earliest = ticks_at_least,
                                            .latest = ticks_at_most});
  });
}

void device_records_lost(RawDeviceLoss what, uint64_t count) {
  if (count == 0) return;
  with_log([&](DeviceLog& state) {
    state.log->put(now(), raw::device_lost{.what = what, .count = count});
  });
}

void runtime_is(DeviceApi api, std::string_view description, trace::RawDeviceRefusal refusal) {
  with_log([&](DeviceLog& state) {
    Text text;
    text.add(description);
    const unsigned what = static_cast<unsigned>(api) | static_cast<unsigned>(refusal) << 8;
    state.log->put(now(), raw::device_runtime{.what = static_cast<uint16_t>(what)}, text.words,
                   text.count());
  });
}

}  // namespace culprit::gpu
