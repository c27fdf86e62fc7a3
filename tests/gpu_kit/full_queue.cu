/* SPDX-FileCopyrightText: The culprit authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * 4000 kernels of 50 us on one stream as fast as it goes: more than the queue to the device has room for,
 * so that launches wait for it. */
#include "cuda_work.h"

int main() {
  for (int i = 0; i < 4000; ++i) launch_busy(nullptr, 0.05);
  CUDA_CHECK(cudaDeviceSynchronize());
  return 0;
}
