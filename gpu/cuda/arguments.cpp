// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A table with a place for each handle, which has the number of the last recording's call and a
// part of the handle. Two events may take the same place: then the older one is forgotten. Its
// memory is the system's page of zeros until it is used.
#include "gpu/cuda/arguments.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "gpu/cuda/contexts.h"

namespace culprit::gpu::cuda {

namespace {

constexpr size_t kPlaces = size_t{1} << 16;
std::atomic<uint64_t> g_recordings[kPlaces];

/// The stream that a thread asked for last, while it does nothing else with the runtime: handles
/// are given again to other streams.
struct LastStream {
  bool known = false;
  CUstream stream = nullptr;
  uint32_t context = 0;
  QueueNumber queue = QueueNumber::none;
};
constinit thread_local LastStream t_last __attribute__((tls_model("initial-exec"))) = {};

uint64_t mixed(const void* handle) {
  return reinterpret_cast<uintptr_t>(handle) * 0x9e3779b97f4a7c15;
}

std::atomic<uint64_t>& place_of(uint64_t mixed_handle) {
  return g_recordings[mixed_handle >> 48];
}

/// The first argument, of functions whose only or first one is a handle.
void* first_argument(const CUpti_CallbackData& call) {
  return call.functionParams != nullptr ? *static_cast<void* const*>(call.functionParams) : nullptr;
}

int result_of(const CUpti_CallbackData& call) {
  return call.functionReturnValue != nullptr ? *static_cast<const int*>(call.functionReturnValue)
                                             : 0;
}

/// Of programs whose default stream is their thread's own.
bool is_per_thread(const CUpti_CallbackData& call) {
  const std::string_view name = call.functionName != nullptr ? call.functionName : "";
  return name.find("_ptsz") != std::string_view::npos ||
         name.find("_ptds") != std::string_view::npos;
}

/// None if it cannot be told.
QueueNumber queue_of_stream(const Cupti& cupti, const CUpti_CallbackData& call, CUstream stream) {
  if (cupti.cuptiGetStreamIdEx == nullptr || call.context == nullptr) return QueueNumber::none;
  uint32_t number = 0;
  if (cupti.cuptiGetStreamIdEx(call.context, stream, is_per_thread(call) ? 1 : 0, &number) !=
      CUPTI_SUCCESS) {
    return QueueNumber::none;
  }
  return queue_of(call.contextUid, number);
}

}  // namespace

void note_recording(const CUpti_CallbackData& call) {
  const void* const event = first_argument(call);
  if (event == nullptr || !has_succeeded(call)) return;
  const uint64_t handle = mixed(event);
  place_of(handle).store(handle << 32 | call.correlationId, std::memory_order_relaxed);
}

Question question_of(const Cupti& cupti, const Call& what, const CUpti_CallbackData& call) {
  Question question;
  void* const argument = first_argument(call);
  if (what.waits == CallWaits::event) {
    const uint64_t handle = mixed(argument);
    const uint64_t known = place_of(handle).load(std::memory_order_relaxed);
    if (known >> 32 == (handle & UINT32_MAX)) {
      question.operation = OperationNumber{known & UINT32_MAX};
    }
    return question;
  }
  if (!t_last.known && !is_too_early(call)) return question;  // nothing was in vain
  const auto stream = static_cast<CUstream>(argument);
  if (!t_last.known || t_last.stream != stream || t_last.context != call.contextUid) {
    t_last = {true, stream, call.contextUid, queue_of_stream(cupti, call, stream)};
  }
  question.queue = t_last.queue;
  return question;
}

void other_call_begins() {
  t_last.known = false;
}

bool is_too_early(const CUpti_CallbackData& call) {
  return result_of(call) == CUDA_ERROR_NOT_READY;  // of the runtime's functions, too
}

bool has_succeeded(const CUpti_CallbackData& call) {
  return result_of(call) == CUDA_SUCCESS;
}

bool hands_over_for_sure(const Call& what, const CUpti_CallbackData& call) {
  if (!has_succeeded(call)) return false;
  if (!what.has_length || call.functionParams == nullptr) return true;
  return static_cast<const size_t*>(call.functionParams)[2] != 0;
}

HostFunction host_function_of(const Cupti& cupti, const CUpti_CallbackData& call) {
  if (call.functionParams == nullptr) return {};
  const auto* const arguments = static_cast<void* const*>(call.functionParams);
  return {queue_of_stream(cupti, call, static_cast<CUstream>(arguments[0])),
          reinterpret_cast<uintptr_t>(arguments[1])};
}

}  // namespace culprit::gpu::cuda
