/* SPDX-FileCopyrightText: The culprit authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * A graph: 10 kernels of 2 ms are captured once and launched 5 times; the host works 30 ms after each
 * launch, and waits at the end.
 *
 * By construction: 0.1 s of kernels in 5 launches; the device idles 0.04 s because of work_beside. */
#include "cuda_work.h"
#include "work.h"

KERNEL double work_beside(double value) {
  WORK_MS(30);
  return value + 0.5;
}

int main() {
  cudaStream_t stream;
  cudaGraph_t graph;
  cudaGraphExec_t ready;
  double value = 0;
  CUDA_CHECK(cudaStreamCreate(&stream));
  CUDA_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  for (int i = 0; i < 10; ++i) launch_busy(stream, 2);
  CUDA_CHECK(cudaStreamEndCapture(stream, &graph));
  CUDA_CHECK(cudaGraphInstantiateWithFlags(&ready, graph, 0));
  for (int step = 0; step < 5; ++step) {
    CUDA_CHECK(cudaGraphLaunch(ready, stream));
    value = work_beside(value);
  }
  CUDA_CHECK(cudaStreamSynchronize(stream));
  CUDA_CHECK(cudaGraphExecDestroy(ready));
  CUDA_CHECK(cudaGraphDestroy(graph));
  CUDA_CHECK(cudaStreamDestroy(stream));
  std::printf("cuda_graph: value %.6f\n", value);
  return 0;
}
