/* SPDX-FileCopyrightText: The culprit authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * launches <count>: launches so many kernels that do nothing, as fast as it goes, and waits for the
 * device after each 1000. Prints the nanoseconds per launch, start-up and a first round not counted. */
#include <time.h>

#include "cuda_work.h"

static __global__ void nothing() {}

static void round_of(int count) {
  for (int i = 1; i <= count; ++i) {
    nothing<<<1, 1>>>();
    if (i % 1000 == 0) CUDA_CHECK(cudaDeviceSynchronize());
  }
  CUDA_CHECK(cudaGetLastError());
  CUDA_CHECK(cudaDeviceSynchronize());
}

static double seconds() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

int main(int argc, char** argv) {
  const int count = argc > 1 ? std::atoi(argv[1]) : 100000;
  CUDA_CHECK(cudaFree(nullptr));
  round_of(2000);
  const double begin = seconds();
  round_of(count);
  std::printf("%.0f\n", (seconds() - begin) * 1e9 / count);
  return 0;
}
