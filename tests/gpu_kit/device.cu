/* SPDX-FileCopyrightText: The culprit authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Says in one line which device there is: name, compute capability, and the CUDA versions of driver and
 * runtime. Ends with status 77 and a sentence where none can be used. */
#include "cuda_work.h"

int main() {
  int driver = 0, runtime = 0, count = 0;
  cudaDeviceProp properties;
  cudaDriverGetVersion(&driver);
  cudaRuntimeGetVersion(&runtime);
  if (driver == 0) {
    std::printf("no NVIDIA driver here\n");
    return 77;
  }
  if (driver < runtime / 1000 * 1000) {
    std::printf("the driver knows CUDA %d.%d, and these programs need %d.%d\n", driver / 1000,
                driver % 1000 / 10, runtime / 1000, runtime % 1000 / 10);
    return 77;
  }
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status != cudaSuccess || count == 0) {
    std::printf("no usable device: %s\n", cudaGetErrorString(status));
    return 77;
  }
  CUDA_CHECK(cudaGetDeviceProperties(&properties, 0));
  std::printf("%s, compute capability %d.%d, driver for CUDA %d.%d, runtime %d.%d\n", properties.name,
              properties.major, properties.minor, driver / 1000, driver % 1000 / 10, runtime / 1000,
              runtime % 1000 / 10);
  return 0;
}
