// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The device part of a host's timeline. Archives of other tools do not say which call launches an
// operation or waits; where they number nothing, the names of the runtime's calls decide.
#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>

#include "replay/read/timeline_builder.h"
#include "trace/device_apis.h"
#include "trace/device_calls.h"

namespace culprit::replay {

namespace {

constexpr std::pair<std::string_view, DeviceCall> kCalls[] = {
    {"LaunchKernel", DeviceCall::launch},
    {"LaunchGrid", DeviceCall::launch},
    {"Launch", DeviceCall::launch},
    {"MemcpyHtoD", DeviceCall::copy_in},
    {"MemcpyDtoH", DeviceCall::copy_out},
    {"CtxSynchronize", DeviceCall::wait_device},
    {"StreamSynchronize", DeviceCall::wait_queue},
    {"DeviceSynchronize", DeviceCall::wait_device},
    {"ThreadSynchronize", DeviceCall::wait_device},
};

}  // namespace

/// Returns the effect of a call by its name ("cuMemcpyDtoHAsync_v2" and the like). OpenCL's queues
/// may execute in any order, and its copies do not show whether they are waited for: only clFinish,
/// which waits for a whole queue, is known.
DeviceCall device_call_of(const trace::Region& region) {
  std::string_view name = region.name;
  if (region.paradigm == trace::Paradigm::opencl) {
    const bool finishes = trace::is_device_call(name, trace::DeviceTrait::finishes);
    return finishes ? DeviceCall::wait_queue : DeviceCall::none;
  }
  constexpr trace::DeviceApiText kCuda = trace::text(trace::DeviceApi::cuda);
  if (region.paradigm != kCuda.paradigm || !name.starts_with(kCuda.calls)) return DeviceCall::none;
  name.remove_prefix(kCuda.calls.size());
  constexpr std::string_view kRuntime =
      "da";  // cudaLaunchKernel, where the driver has cuLaunchKernel
  if (name.starts_with(kRuntime)) name.remove_prefix(kRuntime.size());
  if (const size_t version = name.rfind("_v"); version != std::string_view::npos) {
    name = name.substr(0, version);
  }
  const bool async = name.ends_with("Async");
  if (async) name.remove_suffix(5);
  for (const auto& [known, call] : kCalls) {
    if (name != known) continue;
    return call == DeviceCall::copy_out && async ? DeviceCall::copy_out_async : call;
  }
  constexpr std::string_view kOtherWork[] = {"Launch", "GraphLaunch", "Memcpy"};
  return std::any_of(std::begin(kOtherWork), std::end(kOtherWork),
                     [&](std::string_view begin) { return name.starts_with(begin); })
             ? DeviceCall::other_work
             : DeviceCall::none;
}

void TimelineBuilder::device_launch(Time time, const trace::DeviceLaunch& launch) {
  DeviceFacts& facts = line_.device;
  const auto first = static_cast<uint32_t>(facts.after.size());
  facts.after.insert(facts.after.end(), launch.after.begin(), launch.after.end());
  facts.launches.push_back({launch.operation, current_call(time), launch.queue, first,
                            static_cast<uint32_t>(facts.after.size()), launch.kind});
}

void TimelineBuilder::device_wait(Time time, const trace::DeviceWait& wait) {
  line_.device.waits.push_back(
      {wait.operation, current_call(time), wait.queue, wait.device, wait.what});
}

/// The call was just entered.
void TimelineBuilder::enter_device_call(Time time, DeviceCall call) {
  trace::DeviceLaunch launch;
  trace::DeviceWait wait;
  if (call == DeviceCall::wait_device || call == DeviceCall::wait_queue) {
    wait.what =
        call == DeviceCall::wait_queue ? trace::DeviceWaitFor::queue : trace::DeviceWaitFor::device;
    wait.queue = trace::kNoDeviceQueue;
    return device_wait(time, wait);
  }
  launch.queue = static_cast<uint32_t>(call);  // join_device finds the operations by it
  launch.kind = call == DeviceCall::other_work ? trace::DeviceOpKind::other
                : call == DeviceCall::launch   ? trace::DeviceOpKind::kernel
                                               : trace::DeviceOpKind::copy;
  device_launch(time, launch);
  if (call != DeviceCall::copy_out) return;
  wait.what = trace::DeviceWaitFor::operation;  // its own
  device_wait(time, wait);
}

}  // namespace culprit::replay
