// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Names are cut of their version and of what tells variants apart, then compared with a short list.
#include "gpu/cuda/calls.h"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "trace/device_calls.h"

namespace culprit::gpu::cuda {

namespace {

struct Rule {
  std::string_view prefix;  ///< behind "cuda" or "cu"
  CallKind kind;
  DeviceOpKind operation = DeviceOpKind::other;
  CallWaits waits = CallWaits::no;
};

constexpr Rule waits_for(std::string_view prefix, CallWaits waits) {
  return {prefix, CallKind::plain, DeviceOpKind::other, waits};
}

/// The first that fits counts. The driver's functions on contexts and memory have names of their
/// own ("cuCtxSynchronize", "cuMemFree"). Freeing memory of a device waits for the device, unless a
/// stream does it.
constexpr Rule kRules[] = {
    {"LaunchHostFunc", CallKind::hands_over, DeviceOpKind::host},
    {"StreamAddCallback", CallKind::hands_over, DeviceOpKind::host},
    {"Launch", CallKind::hands_over, DeviceOpKind::kernel},
    {"GraphLaunch", CallKind::hands_over, DeviceOpKind::graph},
    {"GraphInstantiate", CallKind::plain},
    {"Memcpy", CallKind::hands_over, DeviceOpKind::copy, CallWaits::own_operation},
    {"Memset", CallKind::hands_over, DeviceOpKind::fill},
    {"MemPrefetch", CallKind::hands_over, DeviceOpKind::migrate},
    {"EventRecord", CallKind::hands_over, DeviceOpKind::marker},
    {"StreamWaitEvent", CallKind::hands_over, DeviceOpKind::wait},
    {"EventQuery", CallKind::asks, DeviceOpKind::other, CallWaits::event},
    {"StreamQuery", CallKind::asks, DeviceOpKind::other, CallWaits::stream},
    waits_for("StreamSynchronize", CallWaits::stream),
    waits_for("EventSynchronize", CallWaits::event),
    waits_for("DeviceSynchronize", CallWaits::device),
    waits_for("ThreadSynchronize", CallWaits::device),
    waits_for("CtxSynchronize", CallWaits::device),
    {"DeviceReset", CallKind::plain},
    {"Malloc", CallKind::plain},
    {"FreeAsync", CallKind::plain},
    {"FreeHost", CallKind::plain},
    waits_for("Free", CallWaits::device_untracked),
    {"MemAlloc", CallKind::plain},
    {"MemFreeAsync", CallKind::plain},
    {"MemFreeHost", CallKind::plain},
    waits_for("MemFree", CallWaits::device_untracked),
    {"MemHostAlloc", CallKind::plain},
    {"MemHostRegister", CallKind::plain},
    {"HostAlloc", CallKind::plain},
    {"HostRegister", CallKind::plain},
    {"HostUnregister", CallKind::plain},
    {"ModuleLoad", CallKind::plain},
    {"LibraryLoad", CallKind::plain},
    {"StreamBeginCapture", CallKind::plain},
    {"StreamEndCapture", CallKind::plain},
    {"StreamCreate", CallKind::plain},
    {"StreamDestroy", CallKind::plain},
    {"CtxCreate", CallKind::plain},
    {"CtxDestroy", CallKind::plain},
    {"DevicePrimaryCtxRetain", CallKind::plain},
    {"SetDevice", CallKind::first},
    {"InitDevice", CallKind::first},
    {"EventCreate", CallKind::first},
    {"MemGetInfo", CallKind::first},
    {"FuncGetAttributes", CallKind::first},
    {"FuncSetAttribute", CallKind::first},
    {"OccupancyMax", CallKind::first},
};

/// Functions on memory whose third argument is how much of it, without "Async".
constexpr std::string_view kWithLength[] = {"cudaMemcpy",   "cudaMemset",   "cuMemcpy",
                                            "cuMemcpyHtoD", "cuMemcpyDtoH", "cuMemcpyDtoD",
                                            "cuMemsetD8",   "cuMemsetD16",  "cuMemsetD32"};

bool has_length(std::string_view name) {
  if (name.ends_with(trace::kDoesNotWait)) name.remove_suffix(trace::kDoesNotWait.size());
  return std::find(std::begin(kWithLength), std::end(kWithLength), name) != std::end(kWithLength);
}

}  // namespace

Call call_named(std::string_view full_name) {
  const std::string_view name = trace::without_version(full_name);
  const bool runtime = name.starts_with("cuda");
  if (!runtime && !name.starts_with("cu")) return {};
  const std::string_view function = name.substr(runtime ? 4 : 2);
  for (const Rule& rule : kRules) {
    if (!function.starts_with(rule.prefix)) continue;
    Call call;
    call.kind = rule.kind;
    call.operation = rule.operation;
    const bool returns_at_once = function.find("Async") != std::string_view::npos;
    if (!returns_at_once) call.waits = rule.waits;
    call.begins_capture = is_device_call(name, trace::DeviceTrait::begins_capture);
    call.has_length = has_length(name);
    call.ends_capture = is_device_call(name, trace::DeviceTrait::ends_capture);
    return call;
  }
  return {};
}

void Calls::enable(const Cupti& cupti, CUpti_SubscriberHandle subscriber) {
  for (const auto domain : {CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_CB_DOMAIN_DRIVER_API}) {
    auto& calls = domain == CUPTI_CB_DOMAIN_RUNTIME_API ? runtime_ : driver_;
    for (uint32_t number = 1; number < kMost; ++number) {
      const char* name = nullptr;
      if (cupti.cuptiGetCallbackName(domain, number, &name) != CUPTI_SUCCESS || name == nullptr) {
        continue;
      }
      Call call = call_named(name);
      if (call.kind == CallKind::none) continue;
      call.name = strdup(std::string(trace::without_version(name)).c_str());
      calls[number] = call;
      cupti.cuptiEnableCallback(1, subscriber, domain, number);
    }
  }
}

}  // namespace culprit::gpu::cuda
