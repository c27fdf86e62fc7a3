/* SPDX-FileCopyrightText: The culprit authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * No disease: host and device work side by side. In each of 5 steps the host launches a kernel of
 * 60 ms and works 50 ms itself; it only waits at the very end.
 *
 * By construction: the device has something to do all the time; the host waits about 0.05 s. */
#include "cuda_work.h"
#include "work.h"

KERNEL double work_beside(double value) {
  WORK_MS(50);
  return value + 0.5;
}

int main() {
  double value = 0;
  CUDA_CHECK(cudaFree(nullptr));
  for (int step = 0; step < 5; ++step) {
    launch_busy(nullptr, 60);
    value = work_beside(value);
  }
  CUDA_CHECK(cudaDeviceSynchronize());
  std::printf("cuda_overlap: value %.6f\n", value);
  return 0;
}
