// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Plays in which arguments and results of calls matter.
#include <initializer_list>

#include "tests/programs/cuda/play.h"

namespace culprit::tests {

namespace {

constexpr int kNotReady = 600;

int g_calls_on_host = 0;

void on_host(void*) {
  ++g_calls_on_host;
}

/// Asks in vain, so many times, and then hears that it is done.
void ask(const char* function, uint32_t correlation, const void* handle, int in_vain) {
  const void* const arguments[] = {handle};
  for (int i = 0; i <= in_vain; ++i) {
    fake_cupti_enter(function, correlation + static_cast<uint32_t>(i));
    fake_cupti_answer(function, correlation + static_cast<uint32_t>(i), arguments,
                      i < in_vain ? kNotReady : 0);
  }
}

}  // namespace

/// An event that was recorded twice, one that was never, a stream; and what is done at once.
void polls() {
  start();
  const uint32_t stream_eight = 8, other = 0;
  const int event_handle = 0;
  const void* const recording[] = {&event_handle, &stream_eight};
  for (const uint32_t number : {10u, 12u}) {
    call("cudaLaunchKernel_v7000", number);
    kernel(number, number == 10 ? 7 : 8, number * 10, 5);
    fake_cupti_enter("cudaEventRecord_v3020", number + 1);
    fake_cupti_answer("cudaEventRecord_v3020", number + 1, recording, 0);
    event(number + 1, number == 10 ? 7 : 8, 3, number);
  }
  ask("cudaEventQuery_v3020", 100, &event_handle, 50);
  ask("cudaStreamQuery_v3020", 200, &stream_eight, 50);
  ask("cuStreamQuery_ptsz", 300, &stream_eight, 0);
  ask("cuEventQuery", 400, &other, 50);
}

/// A copy of nothing and a launch that fails leave no operation, and none is missing.
void nothing() {
  start();
  call("cudaLaunchKernel_v7000", 10);
  kernel(10, 7, 0, 10);
  const uintptr_t empty[] = {1, 2, 0, 1, 0};
  fake_cupti_enter("cudaMemcpyAsync_v3020", 11);
  fake_cupti_answer("cudaMemcpyAsync_v3020", 11, empty, 0);
  fake_cupti_enter("cudaLaunchKernel_v7000", 12);
  fake_cupti_answer("cudaLaunchKernel_v7000", 12, nullptr, 9);
  fake_cupti_enter("cudaMemcpy_v3020", 13);
  fake_cupti_answer("cudaMemcpy_v3020", 13, empty, 0);
}

/// A stream calls a function between two kernels, which have both been handed over; and one that it
/// does not call, since that becomes a part of a graph.
void host_function() {
  start();
  const uint32_t stream_eight = 8;
  const void* const arguments[] = {&stream_eight, reinterpret_cast<const void*>(on_host), nullptr};
  call("cudaLaunchKernel_v7000", 10);
  fake_cupti_enter("cudaLaunchHostFunc_v10000", 11);
  fake_cupti_answer("cudaLaunchHostFunc_v10000", 11, arguments, 0);
  call("cudaLaunchKernel_v7000", 12);
  call("cudaStreamBeginCapture_v10000", 13);
  fake_cupti_enter("cudaLaunchHostFunc_v10000", 14);
  fake_cupti_answer("cudaLaunchHostFunc_v10000", 14, arguments, 0);
  call("cudaStreamEndCapture_v10000", 15);
  call("cudaStreamSynchronize_v3020", 16);
  kernel(10, 8, 0, 10);
  kernel(12, 8, 15, 10);
  synchronisation(CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE, 16, 8, ~0u, 0);
  on_host(nullptr);
}

}  // namespace culprit::tests
