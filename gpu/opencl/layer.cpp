// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The table of the next layer is copied, and the few functions that are of interest are replaced in
// the copy.
#include "gpu/opencl/layer.h"

#include <CL/cl_layer.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>

#include "collector/process/recorder.h"
#include "gpu/drain.h"

namespace culprit::gpu::opencl {

const cl_icd_dispatch* next_layer = nullptr;

namespace {

constexpr std::chrono::seconds kLastCollection{2};

cl_icd_dispatch g_next;   ///< what the loader gave us
cl_icd_dispatch g_table;  ///< what we give to the loader
std::atomic<bool> g_following{false};

bool collect_from_next() {
  return collect(*next_layer);
}

bool collect_all() {
  while (collect(*next_layer)) {
  }
  return false;
}

/// Runs before the runtime's own end, which was registered earlier or comes with its unloading.
/// Operations that still run are not waited for: the program does not wait for them either.
void at_exit() {
  if (!is_on() || !g_following.exchange(false)) return;
  if (drain_now(collect_all, kLastCollection, true)) abandon();
}

}  // namespace

bool follows() {
  return g_following.load(std::memory_order_relaxed) && is_on();
}

bool begin_following() {
  static std::atomic<bool> begun{false};
  if (!begin_device_log(DeviceApi::opencl)) return false;
  if (begun.exchange(true)) return follows();
  runtime_is(DeviceApi::opencl, "OpenCL");
  start_drain(collect_from_next);
  atexit(at_exit);
  g_following.store(true, std::memory_order_release);
  return true;
}

}  // namespace culprit::gpu::opencl

using namespace culprit::gpu::opencl;

extern "C" CULPRIT_EXPORT CL_API_ENTRY cl_int CL_API_CALL clGetLayerInfo(cl_layer_info what,
                                                                         size_t size, void* value,
                                                                         size_t* size_needed) {
  static constexpr cl_layer_api_version kVersion = CL_LAYER_API_VERSION_100;
  static constexpr char kName[] = "culprit";
  const bool version = what == CL_LAYER_API_VERSION;
  if (!version && what != CL_LAYER_NAME) return CL_INVALID_VALUE;
  const void* const answer = version ? static_cast<const void*>(&kVersion) : kName;
  const size_t length = version ? sizeof kVersion : sizeof kName;
  if (value != nullptr && size < length) return CL_INVALID_VALUE;
  if (value != nullptr) memcpy(value, answer, length);
  if (size_needed != nullptr) *size_needed = length;
  return CL_SUCCESS;
}

/// A loader may know fewer functions than we do, or more: it takes those that both know.
extern "C" CULPRIT_EXPORT CL_API_ENTRY cl_int CL_API_CALL
clInitLayer(cl_uint count, const cl_icd_dispatch* target, cl_uint* count_taken,
            const cl_icd_dispatch** table) {
  if (target == nullptr || table == nullptr || count_taken == nullptr) return CL_INVALID_VALUE;
  if (!culprit::collector::culprit_takes_probe(culprit::trace::kRawVersion))
    return CL_INVALID_OPERATION;
  constexpr cl_uint kKnown = sizeof(cl_icd_dispatch) / sizeof(void*);
  const cl_uint common = std::min(count, kKnown);
  memcpy(static_cast<void*>(&g_next), target, common * sizeof(void*));
  next_layer = &g_next;
  g_table = g_next;
  take_queues(g_table);
  take_enqueues(g_table);
  take_waits(g_table);
  *table = &g_table;
  *count_taken = common;
  return CL_SUCCESS;
}
