// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Devices of a random program: queues that execute what hosts hand over, in order and after what
// they are told to wait for, and calls that wait for them.
#include <algorithm>

#include "tests/unit/blame/random_program.h"

namespace culprit::testing_support {

using trace::OperationNumber;

/// Each rank's streams come behind its threads, and are of its own device or of its neighbour's.
void RandomProgram::define_streams(uint32_t rank, ProcessId process) {
  trace::Definitions& definitions = trace_.definitions_;
  // Ranks of a node may share one, unless their clocks are to disagree.
  const uint32_t device = shares_device_ && !shape_.no_windows ? rank - rank % 2 : rank;
  for (uint32_t s = 0; s < streams_; ++s) {
    definitions.processes[process.index()].locations.emplace_back(definitions.locations.size());
    definitions.locations.push_back({"stream", trace::LocationKind::accelerator_stream, process,
                                     threads_ + s, 0, 0, DeviceId(device), s});
  }
}

void RandomProgram::device_calls(uint32_t rank) {
  if (toss(5)) return reduce_on_devices();
  for (uint32_t calls = pick(1, 4); calls > 0; --calls) {
    if (toss(3)) work(master(rank));
    switch (pick(0, 5)) {
      case 0:
        return wait_for_device(rank);
      case 1:
        return blocking_copy(rank);
      default:
        launch(rank, "cudaLaunchKernel", "kernel", trace::DeviceOpKind::kernel);
    }
  }
}

/// In the call that was just entered.
RandomProgram::Executed RandomProgram::hand_over(uint32_t rank, const char* name,
                                                 trace::DeviceOpKind kind) {
  const uint32_t queue = pick(0, streams_ - 1);
  const LocationId stream = place(rank, threads_ + queue), host = master(rank);
  const OperationNumber number{++operations_};
  std::vector<OperationNumber> after;
  int64_t begin = std::max(now(stream), now(host) + last_for(3));
  if (!executed_[rank].empty() && toss(3)) {
    const auto& other = executed_[rank][pick(0, static_cast<uint32_t>(executed_[rank].size()) - 1)];
    after.push_back(other.number);
    begin = std::max(begin, other.end);
  }
  put(host, now(host),
      [=](trace::EventSink& sink, Time t) { sink.device_launch(t, {number, kind, queue, after}); });
  now(stream) = begin;
  enter(stream, name);
  put(stream, begin, [=](trace::EventSink& sink, Time t) {
    trace::DeviceOperation operation;
    operation.operation = number;
    operation.kind = kind;
    operation.bytes = 8;
    sink.device_operation(t, operation);
  });
  leave(stream, begin + last_for(30), name);
  executed_[rank].push_back({number, now(stream)});
  return executed_[rank].back();
}

void RandomProgram::launch(uint32_t rank, const char* call, const char* name,
                           trace::DeviceOpKind kind) {
  enter(master(rank), call);
  hand_over(rank, name, kind);
  leave(master(rank), now(master(rank)) + last_for(5), call);
}

void RandomProgram::blocking_copy(uint32_t rank) {
  const LocationId host = master(rank);
  enter(host, "cudaMemcpy");
  const Executed copy = hand_over(rank, "copy from device", trace::DeviceOpKind::copy);
  put(host, now(host), [=](trace::EventSink& sink, Time t) {
    sink.device_wait(t, {trace::DeviceWaitFor::operation, 0, {}, copy.number});
  });
  leave(host, std::max(now(host), copy.end) + last_for(3), "cudaMemcpy");
}

/// All ranks' first queues communicate: none ends before the last has begun.
void RandomProgram::reduce_on_devices() {
  constexpr const char* kName = "ncclDevKernel_AllReduce_Sum_f32_RING_LL";
  int64_t all_began = 0;
  for (uint32_t rank = 0; rank < ranks_; ++rank) {
    const LocationId stream = place(rank, threads_), host = master(rank);
    if (toss()) work(host);
    enter(host, "cudaLaunchKernel");
    const OperationNumber number{++operations_};
    put(host, now(host), [=](trace::EventSink& sink, Time t) {
      sink.device_launch(t, {number, trace::DeviceOpKind::kernel, 0, {}});
    });
    now(stream) = std::max(now(stream), now(host) + last_for(3));
    all_began = std::max(all_began, now(stream));
    enter(stream, kName);
    put(stream, now(stream), [=](trace::EventSink& sink, Time t) {
      trace::DeviceOperation operation;
      operation.operation = number;
      sink.device_operation(t, operation);
    });
    leave(host, now(host) + last_for(5), "cudaLaunchKernel");
    executed_[rank].push_back({number, 0});
  }
  for (uint32_t rank = 0; rank < ranks_; ++rank) {
    const LocationId stream = place(rank, threads_);
    leave(stream, all_began + last_for(10), kName);
    executed_[rank].back().end = now(stream);
  }
}

void RandomProgram::wait_for_device(uint32_t rank) {
  const LocationId host = master(rank);
  const bool all = toss();
  const uint32_t queue = pick(0, streams_ - 1);
  const DeviceId device =
      trace_.definitions_.locations[place(rank, threads_ + queue).index()].device;
  const char* const name = all ? "cudaDeviceSynchronize" : "cudaStreamSynchronize";
  enter(host, name);
  put(host, now(host), [=](trace::EventSink& sink, Time t) {
    sink.device_wait(t, {all ? trace::DeviceWaitFor::device : trace::DeviceWaitFor::queue, queue,
                         device, OperationNumber::none});
  });
  int64_t end = now(host);
  for (uint32_t s = 0; s < streams_; ++s) {
    if (all || s == queue) end = std::max(end, now(place(rank, threads_ + s)));
  }
  leave(host, end + last_for(3), name);
}

}  // namespace culprit::testing_support
