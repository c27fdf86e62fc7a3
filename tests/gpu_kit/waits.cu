/* SPDX-FileCopyrightText: The culprit authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * 30 kernels of 5 ms, each waited for at once: 10 by waiting for the device, 10 for its stream, 10 for an
 * event behind it. Two streams take turns. */
#include "cuda_work.h"

int main() {
  cudaStream_t streams[2];
  cudaEvent_t done;
  for (cudaStream_t& stream : streams) {
    CUDA_CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  }
  CUDA_CHECK(cudaEventCreateWithFlags(&done, cudaEventDisableTiming));
  for (int i = 0; i < 30; ++i) {
    cudaStream_t stream = streams[i % 2];
    launch_busy(stream, 5);
    if (i % 3 == 0) CUDA_CHECK(cudaDeviceSynchronize());
    if (i % 3 == 1) CUDA_CHECK(cudaStreamSynchronize(stream));
    if (i % 3 != 2) continue;
    CUDA_CHECK(cudaEventRecord(done, stream));
    CUDA_CHECK(cudaEventSynchronize(done));
  }
  return 0;
}
