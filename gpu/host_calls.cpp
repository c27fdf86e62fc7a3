// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The host's side: records in the log of the thread that calls. Samples are held off while it is
// inside the runtime, where they would say nothing of the program.
#include <atomic>

#include "collector/process/recorder.h"
#include "collector/process/selection.h"
#include "gpu/face.h"

namespace culprit::gpu {

namespace {

using collector::now;
using collector::StringId;
using collector::thread_log;
using collector::ThreadLog;
namespace raw = trace::raw;

void wait_record(DeviceWaitFor what, uint32_t place, OperationNumber operation) {
  if (ThreadLog* log = thread_log()) {
    log->put(now(), raw::device_wait{
                        .place = place, .what = what, .number = static_cast<uint64_t>(operation)});
  }
}

ThreadLog* log_of_calls() {
  return is_on() && collector::recording() ? thread_log() : nullptr;
}

void put_enter(ThreadLog& log, uint64_t time, const char* name) {
  const auto path = static_cast<uint32_t>(log.current_path());
  log.put(time, raw::device_enter{.path = path, .name = static_cast<uint16_t>(log.name(name))});
  ++log.waiting;
}

}  // namespace

bool call_begins(const char* name) {
  ThreadLog* log = log_of_calls();
  if (log == nullptr) return false;
  put_enter(*log, now(), name);
  return true;
}

bool call_begins_with_start_up(const char* name, uint64_t since) {
  ThreadLog* log = log_of_calls();
  if (log == nullptr) return false;
  const uint64_t time = now();
  log->put(time, raw::device_start_up{.since = since});
  put_enter(*log, time, name);
  return true;
}

void call_started_up() {
  if (ThreadLog* log = thread_log()) log->put(now(), raw::device_start_up{.since = 0});
}

void call_handed_over(DeviceOpKind kind, QueueNumber queue, OperationNumber number,
                      uint64_t function) {
  if (ThreadLog* log = thread_log()) {
    log->put(now(), raw::device_launch{.queue = static_cast<uint32_t>(queue),
                                       .kind = kind,
                                       .operation = static_cast<uint64_t>(number),
                                       .function = function});
  }
}

void call_ordered_after(const OperationNumber* operations, size_t count) {
  ThreadLog* log = thread_log();
  constexpr size_t kMost = 128;
  uint64_t words[kMost];
  for (size_t done = 0; log != nullptr && done < count;) {
    unsigned here = 0;
    for (; here < kMost && done < count; ++here) {
      words[here] = static_cast<uint64_t>(operations[done++]);
    }
    log->put(now(), raw::device_after{}, words, here);
  }
}

void call_waited_for(OperationNumber operation) {
  wait_record(DeviceWaitFor::operation, 0, operation);
}

void call_waited_for(QueueNumber queue) {
  wait_record(DeviceWaitFor::queue, static_cast<uint32_t>(queue), OperationNumber::none);
}

void call_waited_for(DeviceNumber device) {
  call_waited_for(device, OperationNumber::none);
}

void call_waited_for(DeviceNumber device, OperationNumber call) {
  wait_record(DeviceWaitFor::device, static_cast<uint32_t>(device), call);
}

void call_waited_for_queue_of(OperationNumber call) {
  wait_record(DeviceWaitFor::queue, trace::kRawNoQueue, call);
}

void call_ends(const char* name) {
  ThreadLog* log = thread_log();
  if (log == nullptr) return;
  --log->waiting;
  log->put(now(), raw::device_leave{.name = static_cast<uint16_t>(log->name(name))});
}

uint64_t begin_to_ask() {
  ThreadLog* log = log_of_calls();
  if (log == nullptr) return 0;
  ++log->waiting;
  return now();
}

void asked(const char* name, uint64_t begin, const Question& what, bool done) {
  ThreadLog* log = thread_log();
  if (log == nullptr) return;
  --log->waiting;
  const uint64_t end = now();
  raw::device_polls polls{.path = 0,
                          .name = static_cast<uint16_t>(log->name(name)),
                          .until = end,
                          .count = 1,
                          .inside = end - begin,
                          .number = static_cast<uint64_t>(what.operation),
                          .queue = static_cast<uint32_t>(what.queue)};
  if (!collector::recording() || log->put_poll(polls) || done) return;
  polls.path = static_cast<uint32_t>(log->current_path());
  log->put(begin, polls);
}

OperationNumber next_operation() {
  static std::atomic<uint64_t> last{uint64_t{1} << 32};
  return OperationNumber{last.fetch_add(1, std::memory_order_relaxed) + 1};
}

}  // namespace culprit::gpu
