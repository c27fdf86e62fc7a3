/* SPDX-FileCopyrightText: The culprit authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * 200 kernels of 0.2, 0.6, 1.0, 1.4 and 1.8 ms in turn, on two streams that take turns, each between two
 * events, after one that takes no time and has the code loaded. Prints how many there were and what the
 * events say they took together, in nanoseconds. */
#include "cuda_work.h"

int main() {
  constexpr int kKernels = 200;
  cudaStream_t streams[2];
  cudaEvent_t begin, end;
  double total_ms = 0;
  for (cudaStream_t& stream : streams) {
    CUDA_CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  }
  CUDA_CHECK(cudaEventCreate(&begin));
  CUDA_CHECK(cudaEventCreate(&end));
  launch_busy(streams[0], 0);
  CUDA_CHECK(cudaDeviceSynchronize());
  for (int i = 0; i < kKernels; ++i) {
    cudaStream_t stream = streams[i % 2];
    float ms = 0;
    CUDA_CHECK(cudaEventRecord(begin, stream));
    launch_busy(stream, 0.2 + 0.4 * (i % 5));
    CUDA_CHECK(cudaEventRecord(end, stream));
    CUDA_CHECK(cudaEventSynchronize(end));
    CUDA_CHECK(cudaEventElapsedTime(&ms, begin, end));
    total_ms += ms;
  }
  std::printf("%d %.0f\n", kKernels + 1, total_ms * 1e6);
  return 0;
}
