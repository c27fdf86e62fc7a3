// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The template of a probe for a device runtime, which docs/developers/add-a-probe.md quotes: a
// whole one, for a made-up runtime (toy.h). It tells of one device with one queue. Yours has a row
// of its own in trace/device_apis.def; this one borrows CUDA's, and begins its functions' names as
// CUDA does.
//
// MT: calls come on the threads that make them, operations on the runtime's own thread.
#include "collector/process/recorder.h"
#include "gpu/face.h"
#include "tests/templates/probe/toy.h"

namespace culprit::gpu::toy {

namespace {

constexpr const char kLaunch[] = "cu_toy_launch";
constexpr const char kWait[] = "cu_toy_wait";

DeviceNumber g_device{};
QueueNumber g_queue = QueueNumber::none;
thread_local bool t_recorded = false;  ///< the call that this thread is in

/// The runtime's numbers are small, and so this process's alone.
OperationNumber number_of(uint64_t operation) {
  return static_cast<OperationNumber>(operation);
}

/// Puts the device's clock on our axis: as often as it costs little.
void compare_clocks() {
  const uint64_t before = collector::now();
  const uint64_t nanoseconds = toy_clock();
  clock_was(g_device, nanoseconds, before, collector::now());
}

void launch_begins() {
  t_recorded = call_begins(kLaunch);
}
void launch_ends(uint64_t operation) {
  if (!t_recorded) return;
  call_handed_over(DeviceOpKind::kernel, g_queue, number_of(operation));
  call_ends(kLaunch);
}

void wait_begins() {
  t_recorded = call_begins(kWait);
}
void wait_ends(uint64_t operation) {
  if (!t_recorded) return;
  call_waited_for(number_of(operation));
  call_ends(kWait);
}

/// Of real runtimes asked for by the drain (gpu/drain.h), since it may take time.
void executed(uint64_t operation, const char* name, uint64_t begin, uint64_t end) {
  if (!is_on()) return;
  Operation told;
  told.queue = g_queue;
  told.kind = DeviceOpKind::kernel;
  told.number = number_of(operation);
  told.begin = begin;
  told.end = end;
  told.name = number_of_name(name);
  operation_executed(told);
  compare_clocks();
}

constexpr ToyTools kTools = {launch_begins, launch_ends, wait_begins, wait_ends, executed};

}  // namespace

}  // namespace culprit::gpu::toy

using namespace culprit::gpu;

/// Called by the runtime when it is first used. First of all: is the recorder ours?
extern "C" CULPRIT_EXPORT const ToyTools* toy_tools_start(void) {
  if (!culprit::collector::culprit_takes_probe(culprit::trace::kRawVersion)) return nullptr;
  if (!begin_device_log(DeviceApi::cuda)) return nullptr;
  toy::g_device = add_device({DeviceApi::cuda, "Toy", "toy 0"});
  toy::g_queue = add_queue({toy::g_device, 0, 0, false});
  runtime_is(DeviceApi::cuda, "toy runtime 1.0");
  toy::compare_clocks();
  return &toy::kTools;
}
