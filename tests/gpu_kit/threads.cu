/* SPDX-FileCopyrightText: The culprit authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * 64 threads that launch 20 kernels each on a stream of their own, and meanwhile 200 that launch two on the
 * default stream and end without waiting: 1680 kernels. */
#include <thread>
#include <vector>

#include "cuda_work.h"

static void many() {
  cudaStream_t stream;
  CUDA_CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  for (int i = 0; i < 20; ++i) {
    launch_busy(stream, 0.05);
    CUDA_CHECK(cudaStreamSynchronize(stream));
  }
}

static void two() {
  launch_busy(nullptr, 0.05);
  launch_busy(nullptr, 0.05);
}

int main() {
  std::vector<std::thread> threads;
  for (int i = 0; i < 64; ++i) threads.emplace_back(many);
  for (int i = 0; i < 200; ++i) std::thread(two).join();
  for (std::thread& thread : threads) thread.join();
  CUDA_CHECK(cudaDeviceSynchronize());
  return 0;
}
