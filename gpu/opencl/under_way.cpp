// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Events are asked in the order of their queues. In a queue that keeps its order nothing behind one
// that still runs is asked: it cannot have ended.
#include "gpu/opencl/under_way.h"

#include <pthread.h>

#include <algorithm>
#include <deque>
#include <unordered_map>

#include "gpu/lock.h"

namespace culprit::gpu::opencl {

namespace {

constexpr size_t kMostUnderWay = size_t{1} << 18;
/// Times are put on our axis by moments that both clocks are known at: one a device and this many
/// nanoseconds is plenty, the closest of those seen.
constexpr uint64_t kClockPeriod = 20'000'000;

struct FollowedQueue {
  Queue queue;
  std::deque<Given> given;
};

struct UnderWay {
  std::unordered_map<cl_command_queue, FollowedQueue> queues;
  std::unordered_map<cl_event, OperationNumber> events;
  size_t under_way = 0;
};

pthread_mutex_t g_mutex = PTHREAD_MUTEX_INITIALIZER;
UnderWay& state() {
  static UnderWay* const all = new UnderWay;  // never torn down
  return *all;
}

/// When a device's clock was last paired with ours; of the collecting thread.
struct Pairing {
  uint64_t period = 0;
  uint64_t nanoseconds = 0;
  uint64_t at_least = 0;
  uint64_t at_most = 0;
};

/// OpenCL takes the time at which an operation is queued inside the call that does it.
void pair_clocks(const Given& given, DeviceNumber device) {
  static std::unordered_map<uint32_t, Pairing>& pairings =
      *new std::unordered_map<uint32_t, Pairing>;
  Pairing& best = pairings[static_cast<uint32_t>(device)];
  const uint64_t queued = given.operation.queued;
  if (queued == 0) return;
  const uint64_t period = queued / kClockPeriod;
  const bool is_new = best.at_most == 0 || period != best.period;
  const uint64_t length = given.ticks_after - given.ticks_before;
  if (!is_new && length >= best.at_most - best.at_least) return;
  best = {period, queued, given.ticks_before, given.ticks_after};
  clock_was(device, best.nanoseconds, best.at_least, best.at_most);
}

uint64_t time_of(const cl_icd_dispatch& next, cl_event event, cl_profiling_info which) {
  cl_ulong time = 0;
  const cl_int status = next.clGetEventProfilingInfo(event, which, sizeof time, &time, nullptr);
  return status == CL_SUCCESS ? time : 0;
}

/// CL_COMPLETE, an error below it, or what stage it has reached.
cl_int status_of(const cl_icd_dispatch& next, cl_event event) {
  cl_int status = CL_QUEUED;
  const cl_int asked = next.clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status,
                                           &status, nullptr);
  return asked == CL_SUCCESS ? status : asked;
}

void tell(const cl_icd_dispatch& next, Given& given, cl_int status, DeviceNumber device) {
  if (status != CL_COMPLETE) return device_records_lost(RawDeviceLoss::unfinished);
  Operation& operation = given.operation;
  operation.queued = time_of(next, given.event, CL_PROFILING_COMMAND_QUEUED);
  operation.submitted = time_of(next, given.event, CL_PROFILING_COMMAND_SUBMIT);
  operation.begin = time_of(next, given.event, CL_PROFILING_COMMAND_START);
  operation.end = time_of(next, given.event, CL_PROFILING_COMMAND_END);
  pair_clocks(given, device);
  operation_executed(operation);
}

/// Operations to be checked in one go: a queue, and the operations at its front.
struct Batch {
  cl_command_queue handle;
  DeviceNumber device;
  bool out_of_order;
  std::vector<Given> given;
};

std::vector<Batch> fronts() {
  constexpr size_t kAtOnce = 4096;
  std::vector<Batch> batches;
  const Lock lock(g_mutex);
  for (const auto& [handle, queue] : state().queues) {
    if (queue.given.empty()) continue;
    const size_t count = std::min(kAtOnce, queue.given.size());
    const auto begin = queue.given.begin();
    batches.push_back({handle,
                       queue.queue.device,
                       queue.queue.out_of_order,
                       {begin, begin + static_cast<ptrdiff_t>(count)}});
  }
  return batches;
}

/// Forgets operations that were recorded: no two operations under way share a number.
void remove(const Batch& batch, const std::vector<bool>& told) {
  const Lock lock(g_mutex);
  std::deque<Given>& given = state().queues[batch.handle].given;
  size_t kept = 0;
  for (size_t i = 0; i < told.size(); ++i) {
    if (!told[i]) {
      given[kept++] = given[i];
      continue;
    }
    const auto event =
        given[i].asked_for ? state().events.find(given[i].event) : state().events.end();
    if (event != state().events.end() && event->second == given[i].operation.number) {
      state().events.erase(event);
    }
    --state().under_way;
  }
  given.erase(given.begin() + static_cast<ptrdiff_t>(kept),
              given.begin() + static_cast<ptrdiff_t>(told.size()));
}

}  // namespace

void add(cl_command_queue handle, const Queue& queue) {
  const Lock lock(g_mutex);
  state().queues[handle].queue = queue;
}

Queue find(cl_command_queue handle) {
  const Lock lock(g_mutex);
  const auto queue = state().queues.find(handle);
  return queue == state().queues.end() ? Queue{} : queue->second.queue;
}

void put_under_way(const cl_icd_dispatch& next, const Given& given) {
  {
    const Lock lock(g_mutex);
    if (state().under_way < kMostUnderWay) {
      state().queues[given.queue].given.push_back(given);
      if (given.asked_for) state().events[given.event] = given.operation.number;
      ++state().under_way;
      return;
    }
  }
  next.clReleaseEvent(given.event);
  device_records_lost(RawDeviceLoss::no_room);
}

std::vector<OperationNumber> operations_of(std::span<const cl_event> events) {
  std::vector<OperationNumber> numbers;
  const Lock lock(g_mutex);
  for (const cl_event event : events) {
    const auto known = state().events.find(event);
    if (known != state().events.end()) numbers.push_back(known->second);
  }
  return numbers;
}

void put_user_event(cl_event event, OperationNumber number) {
  const Lock lock(g_mutex);
  state().events[event] = number;
}

OperationNumber take_user_event(cl_event event) {
  const Lock lock(g_mutex);
  const auto known = state().events.find(event);
  if (known == state().events.end()) return OperationNumber::none;
  const OperationNumber number = known->second;
  state().events.erase(known);
  return number;
}

bool collect(const cl_icd_dispatch& next) {
  bool any = false;
  for (Batch& batch : fronts()) {
    std::vector<bool> told;
    for (Given& given : batch.given) {
      const cl_int status = status_of(next, given.event);
      const bool ended = status <= CL_COMPLETE;
      if (!ended && !batch.out_of_order) break;
      told.push_back(ended);
      if (ended) tell(next, given, status, batch.device);
    }
    remove(batch, told);
    for (size_t i = 0; i < told.size(); ++i) {
      if (!told[i]) continue;
      next.clReleaseEvent(batch.given[i].event);
      any = true;
    }
  }
  return any;
}

void abandon() {
  size_t count = 0;
  {
    const Lock lock(g_mutex);
    count = state().under_way;
    state().under_way = 0;
    for (auto& [handle, queue] : state().queues) queue.given.clear();
  }
  device_records_lost(RawDeviceLoss::unfinished, count);
}

}  // namespace culprit::gpu::opencl
