// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The devices' side: one log, which belongs to no thread, behind one lock that is held for a few
// stores and never across a call into foreign code. Records go straight into the mapped file, so
// nothing accumulates here, and what was told survives any death of the program.
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <string>
#include <unordered_map>

#include "collector/recorder/recorder.h"
#include "gpu/face.h"
#include "gpu/lock.h"

namespace culprit::gpu {

namespace {

using collector::now;
using collector::ThreadLog;
using trace::RawKind;

constexpr size_t kTextBytes = 2000;

struct Text {
  uint64_t words[256] = {};
  size_t bytes = 0;

  explicit Text(size_t first_free_word = 0) : bytes(first_free_word * sizeof(uint64_t)) {}
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
struct State {
  ThreadLog* log = nullptr;
  uint32_t first = 0;  ///< of all numbers
  uint32_t devices = 0;
  uint32_t queues = 0;
  std::unordered_map<std::string, uint32_t> names;
};

pthread_mutex_t g_mutex = PTHREAD_MUTEX_INITIALIZER;
State* g_state = nullptr;
std::atomic<bool> g_begun{false};

/// Calls `write(state)` with the log at hand, if there is one.
template <class Write>
void with_log(Write write) {
  if (!is_on()) return;
  const Lock lock(g_mutex);
  write(*g_state);
}

}  // namespace

bool begin(RawDeviceApi api) {
  if (g_begun.load(std::memory_order_acquire)) return collector::is_active();
  if (!collector::activate()) return false;
  const Lock lock(g_mutex);
  if (g_begun.load(std::memory_order_relaxed)) return true;
  ThreadLog* const log = collector::make_extra_log();
  if (log == nullptr) return false;
  g_state = new State;
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
  with_log([&](State& state) {
    Text text(1);
    const uint64_t name = text.add(info.name.substr(0, kTextBytes / 2));
    const uint64_t identity = text.add(info.identity);
    text.words[0] = name | identity << 32;
    number = state.first + state.devices++;
    state.log->put_words(RawKind::device_def, now(), static_cast<uint16_t>(info.api), number,
                         text.words, text.count());
  });
  return DeviceNumber{number};
}

QueueNumber add_queue(const QueueInfo& info) {
  uint32_t number = trace::kRawNoQueue;
  with_log([&](State& state) {
    number = state.first + state.queues++;
    state.log->put(RawKind::device_queue_def, now(), info.out_of_order ? 1 : 0, number,
                   static_cast<uint32_t>(info.device) | uint64_t{info.context} << 32, info.number);
  });
  return QueueNumber{number};
}

NameNumber name(std::string_view text) {
  uint32_t number = 0;
  with_log([&](State& state) {
    Text kept;
    const size_t length = kept.add(text);
    const auto next = static_cast<uint32_t>(state.names.size() + 1);
    const auto [known, is_new] = state.names.try_emplace(std::string(text.substr(0, length)), next);
    number = known->second;
    if (!is_new) return;
    state.log->put_words(RawKind::string_def, now(), static_cast<uint16_t>(length), number,
                         kept.words, kept.count());
  });
  return NameNumber{number};
}

void executed(const Operation& op) {
  const auto flags = static_cast<uint16_t>(
      static_cast<unsigned>(op.kind) |
      static_cast<unsigned>(op.direction) << trace::raw_device_op::kDirectionShift |
      static_cast<unsigned>(op.memory) << trace::raw_device_op::kMemoryShift);
  const uint64_t words[] = {static_cast<uint64_t>(op.number),
                            op.begin,
                            op.end,
                            static_cast<uint64_t>(op.name) | uint64_t{op.graph_node} << 32,
                            op.bytes,
                            op.queued,
                            op.submitted};
  with_log([&](State& state) {
    state.log->put_words(RawKind::device_op, now(), flags, static_cast<uint32_t>(op.queue), words,
                         sizeof words / sizeof words[0]);
  });
}

void passed(const Point& point) {
  const bool of_device = point.what == RawDevicePoint::host_waits_for_device;
  const uint32_t object =
      of_device ? static_cast<uint32_t>(point.device) : static_cast<uint32_t>(point.queue);
  with_log([&](State& state) {
    state.log->put(RawKind::device_point, now(), static_cast<uint16_t>(point.what), object,
                   static_cast<uint64_t>(point.number), point.event, point.event_sync);
  });
}

void runtime_took(uint64_t nanoseconds) {
  with_log(
      [&](State& state) { state.log->put(RawKind::device_overhead, now(), 0, 0, nanoseconds); });
}

void clock_was(DeviceNumber device, uint64_t nanoseconds, uint64_t ticks_at_least,
               uint64_t ticks_at_most) {
  with_log([&](State& state) {
    state.log->put(RawKind::device_clock, now(), 0, static_cast<uint32_t>(device), nanoseconds,
                   ticks_at_least, ticks_at_most);
  });
}

void lost(RawDeviceLoss what, uint64_t count) {
  if (count == 0) return;
  with_log([&](State& state) {
    state.log->put(RawKind::device_lost, now(), static_cast<uint16_t>(what), 0, count);
  });
}

void runtime_is(RawDeviceApi api, std::string_view description, trace::RawDeviceRefusal refusal) {
  with_log([&](State& state) {
    Text text;
    text.add(description);
    const unsigned flags = static_cast<unsigned>(api) | static_cast<unsigned>(refusal) << 8;
    state.log->put_words(RawKind::device_runtime, now(), static_cast<uint16_t>(flags), 0,
                         text.words, text.count());
  });
}

}  // namespace culprit::gpu
