/* SPDX-FileCopyrightText: The culprit authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * CUDA for the examples: a kernel that runs for exactly so long, by the device's own clock. Any
 * error ends the program; without a device it ends with status 77. */
#ifndef CULPRIT_EXAMPLES_CUDA_WORK_H
#define CULPRIT_EXAMPLES_CUDA_WORK_H

#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

static inline void cuda_check(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(status));
  const bool absent = status == cudaErrorNoDevice || status == cudaErrorInsufficientDriver;
  std::exit(absent ? 77 : 1);
}
#define CUDA_CHECK(call) cuda_check(call, #call)

static __device__ unsigned long long device_nanoseconds() {
  unsigned long long time;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time));
  return time;
}

static __global__ void busy(unsigned long long nanoseconds) {
  const unsigned long long begin = device_nanoseconds();
  while (device_nanoseconds() - begin < nanoseconds) {
  }
}

static inline void launch_busy(cudaStream_t stream, double ms) {
  busy<<<1, 1, 0, stream>>>(static_cast<unsigned long long>(ms * 1e6));
  CUDA_CHECK(cudaGetLastError());
}

#endif
