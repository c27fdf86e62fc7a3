// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A launch's correlation is the number of its operation. An event that is waited for is taken to be
// recorded by the call that launched the operation.
#include "kineto_writer.h"

#include "trace/device_apis.h"

namespace culprit::trace {
namespace {

constexpr double kMicro = 1000;  // ns

double micros(Time time) {
  return static_cast<double>(time.nanos()) / kMicro;
}

struct OpenCall {
  RegionId region;
  Time begin;
  uint64_t correlation = 0;
};

/// Writes the calls of a thread.
class HostWriter : public EventSink {
 public:
  HostWriter(const Definitions& definitions, const std::map<uint64_t, int>& queues, int thread,
             SyncRecords syncs, KinetoText& text)
      : definitions_(definitions), queues_(queues), thread_(thread), syncs_(syncs), text_(text) {}

  void enter(Time time, RegionId region) override { open_.push_back({region, time}); }
  void leave(Time time, RegionId) override {
    const OpenCall& call = open_.back();
    const Region& region = definitions_.regions[call.region.index()];
    text_.call(is_device_api(region.paradigm) ? "cuda_runtime" : "cpu_op", region.name,
               micros(call.begin), micros(time), call.correlation, thread_);
    open_.pop_back();
  }
  void device_launch(Time, const DeviceLaunch& launch) override {
    const auto number = static_cast<uint64_t>(launch.operation);
    open_.back().correlation = number;
    for (const OperationNumber after : launch.after) {
      const auto awaited = static_cast<uint64_t>(after);
      text_.sync("Stream Wait Event", number, static_cast<int>(launch.queue), queues_.at(awaited),
                 static_cast<int64_t>(awaited));
    }
  }
  void device_wait(Time, const DeviceWait& wait) override {
    uint64_t& correlation = open_.back().correlation;
    if (correlation == 0) correlation = ++waits_ + 1'000'000;
    if (syncs_ == SyncRecords::left_out) return;
    if (wait.what == DeviceWaitFor::device) {
      text_.sync("Context Sync", correlation, -1);
    } else if (wait.what == DeviceWaitFor::queue) {
      if (wait.queue != kNoDeviceQueue) {
        text_.sync("Stream Sync", correlation, static_cast<int>(wait.queue));
      }
    } else if (const auto awaited = static_cast<uint64_t>(wait.operation); awaited != correlation) {
      text_.sync("Event Sync", correlation, -1, queues_.at(awaited), static_cast<int64_t>(awaited));
    }
  }

 private:
  const Definitions& definitions_;
  const std::map<uint64_t, int>& queues_;  ///< by operation
  const int thread_;
  const SyncRecords syncs_;
  KinetoText& text_;
  std::vector<OpenCall> open_;
  uint64_t waits_ = 0;
};

/// Writes the operations of a stream.
class StreamWriter : public EventSink {
 public:
  StreamWriter(const Definitions& definitions, int queue, std::map<uint64_t, int>& queues,
               KinetoText& text)
      : definitions_(definitions), queue_(queue), queues_(queues), text_(text) {}

  void enter(Time time, RegionId region) override { begin_ = time, region_ = region; }
  void device_operation(Time, const DeviceOperation& told) override { operation_ = told; }
  void leave(Time time, RegionId) override {
    const auto number = static_cast<uint64_t>(operation_.operation);
    queues_[number] = queue_;
    const bool copy = operation_.kind == DeviceOpKind::copy;
    text_.operation(copy                                    ? "gpu_memcpy"
                    : operation_.kind == DeviceOpKind::fill ? "gpu_memset"
                                                            : "kernel",
                    copy ? copy_name() : definitions_.regions[region_.index()].name, queue_,
                    micros(begin_), micros(time), number);
  }

 private:
  std::string copy_name() const {
    const char* const memory = operation_.memory == HostMemory::pageable ? "Pageable" : "Pinned";
    return operation_.direction == CopyDirection::from_device
               ? fmt::format("Memcpy DtoH (Device -> {})", memory)
               : fmt::format("Memcpy HtoD ({} -> Device)", memory);
  }

  const Definitions& definitions_;
  const int queue_;
  std::map<uint64_t, int>& queues_;
  KinetoText& text_;
  Time begin_;
  RegionId region_;
  DeviceOperation operation_;
};

}  // namespace

std::vector<std::string> as_kineto(const Source& source, SyncRecords syncs) {
  const Definitions& definitions = source.definitions();
  std::vector<std::string> texts;
  for (const Process& process : definitions.processes) {
    KinetoText text(static_cast<int>(process.rank));
    std::map<uint64_t, int> queues;
    Losses losses;
    for (const LocationKind kind : {LocationKind::accelerator_stream, LocationKind::cpu_thread}) {
      for (const LocationId id : process.locations) {
        const Location& location = definitions.locations[id.index()];
        if (location.kind != kind) continue;
        StreamWriter streams(definitions, static_cast<int>(location.queue), queues, text);
        HostWriter hosts(definitions, queues,
                         KinetoText::kProcess + static_cast<int>(location.thread), syncs, text);
        const bool is_stream = kind == LocationKind::accelerator_stream;
        static_cast<void>(
            source.read(id, is_stream ? static_cast<EventSink&>(streams) : hosts, losses).ok());
      }
    }
    texts.push_back(text.text());
  }
  return texts;
}

}  // namespace culprit::trace
