/* SPDX-FileCopyrightText: The culprit authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Disease: late launch. In each of 5 steps the host prepares for 60 ms and only then launches a kernel
 * of 20 ms, for which it waits. The device has nothing to do while the host prepares.
 *
 * By construction: the device idles 0.3 s because of prepare; the host waits 0.1 s for the kernel. */
#include "cuda_work.h"
#include "work.h"

KERNEL double prepare(double value) {
  WORK_MS(60);
  return value + 0.5;
}

int main() {
  double value = 0;
  CUDA_CHECK(cudaFree(nullptr));
  for (int step = 0; step < 5; ++step) {
    value = prepare(value);
    launch_busy(nullptr, 20);
    CUDA_CHECK(cudaDeviceSynchronize());
  }
  std::printf("cuda_late_launch: value %.6f\n", value);
  return 0;
}
