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

/// By their names behind "cuda", "cu" or "hip", without "Async".
constexpr std::pair<std::string_view, DeviceCall> kLaunches[] = {
    {"LaunchKernel", DeviceCall::launch},    {"ModuleLaunchKernel", DeviceCall::launch},
    {"ExtLaunchKernel", DeviceCall::launch}, {"ExtModuleLaunchKernel", DeviceCall::launch},
    {"LaunchGrid", DeviceCall::launch},      {"Launch", DeviceCall::launch},
    {"MemcpyHtoD", DeviceCall::copy_in},     {"MemcpyDtoH", DeviceCall::copy_out},
};

DeviceCall wait_of(std::string_view function) {
  if (trace::is_device_call(function, trace::DeviceTrait::waits_for_device)) {
    return DeviceCall::wait_device;
  }
  if (trace::is_device_call(function, trace::DeviceTrait::waits_for_queue)) {
    return DeviceCall::wait_queue;
  }
  return DeviceCall::none;
}

}  // namespace

/// Returns the effect of a call by its name ("cuMemcpyDtoHAsync_v2" and the like). What hands
/// operations over is known of CUDA and HIP alone: other queues may execute in any order, and names
/// of OpenCL's copies do not show whether they are waited for.
DeviceCall device_call_of(const trace::Region& region) {
  if (!trace::is_device_api(region.paradigm)) return DeviceCall::none;
  if (const DeviceCall wait = wait_of(region.name); wait != DeviceCall::none) return wait;
  if (region.paradigm != trace::text(trace::DeviceApi::cuda).paradigm) return DeviceCall::none;
  std::string_view name = trace::behind_prefix(trace::without_version(region.name));
  const bool async = name.ends_with(trace::kDoesNotWait);
  if (async) name.remove_suffix(trace::kDoesNotWait.size());
  for (const auto& [known, call] : kLaunches) {
    if (name != known) continue;
    return call == DeviceCall::copy_out && async ? DeviceCall::copy_out_async : call;
  }
  constexpr std::string_view kOtherWork[] = {"Launch", "GraphLaunch", "Memcpy"};
  return std::any_of(std::begin(kOtherWork), std::end(kOtherWork),
                     [&](std::string_view begin) { return name.starts_with(begin); })
             ? DeviceCall::other_work
             : DeviceCall::none;
}

bool waits_for_device_event(const trace::Region& region) {
  return trace::is_device_api(region.paradigm) &&
         trace::is_device_call(region.name, trace::DeviceTrait::waits_for_event);
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

/// Which event it is is unknown (infer_waits.h).
void TimelineBuilder::enter_event_wait(Time time) {
  trace::DeviceWait wait;
  wait.what = trace::DeviceWaitFor::operation;
  wait.queue = trace::kNoDeviceQueue;
  device_wait(time, wait);
}

}  // namespace culprit::replay
