/* SPDX-FileCopyrightText: The culprit authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Disease: one stream waits for another. In each of 5 steps the second stream's kernel of 10 ms waits
 * for an event behind the first one's of 40 ms.
 *
 * By construction: the second stream waits 0.2 s for the first one's kernel. */
#include "cuda_work.h"

int main() {
  cudaStream_t first, second;
  cudaEvent_t done;
  CUDA_CHECK(cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking));
  CUDA_CHECK(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
  CUDA_CHECK(cudaEventCreateWithFlags(&done, cudaEventDisableTiming));
  for (int step = 0; step < 5; ++step) {
    launch_busy(first, 40);
    CUDA_CHECK(cudaEventRecord(done, first));
    CUDA_CHECK(cudaStreamWaitEvent(second, done, 0));
    launch_busy(second, 10);
    CUDA_CHECK(cudaStreamSynchronize(second));
  }
  CUDA_CHECK(cudaEventDestroy(done));
  CUDA_CHECK(cudaStreamDestroy(first));
  CUDA_CHECK(cudaStreamDestroy(second));
  std::printf("cuda_two_streams: done\n");
  return 0;
}
