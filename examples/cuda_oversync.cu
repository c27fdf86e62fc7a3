/* SPDX-FileCopyrightText: The culprit authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Disease: over-synchronised. In each of 5 steps the host launches a kernel of 40 ms, waits for it at
 * once, copies pageable memory, and then works 40 ms on something that needs neither.
 *
 * By construction: the host waits 0.2 s for the kernels, and the device idles 0.2 s because of
 * work_of_its_own. */
#include <vector>

#include "cuda_work.h"
#include "work.h"

KERNEL double work_of_its_own(double value) {
  WORK_MS(40);
  return value + 0.5;
}

int main() {
  std::vector<double> host(1 << 20);
  double* device = nullptr;
  double value = 0;
  CUDA_CHECK(cudaMalloc(&device, host.size() * sizeof(double)));
  for (int step = 0; step < 5; ++step) {
    launch_busy(nullptr, 40);
    CUDA_CHECK(cudaDeviceSynchronize());
    CUDA_CHECK(cudaMemcpy(device, host.data(), host.size() * sizeof(double),
                          cudaMemcpyHostToDevice));
    value = work_of_its_own(value);
  }
  CUDA_CHECK(cudaFree(device));
  std::printf("cuda_oversync: value %.6f\n", value);
  return 0;
}
