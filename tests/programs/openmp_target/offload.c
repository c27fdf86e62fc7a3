/* SPDX-FileCopyrightText: The culprit authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * OpenMP offload to the host itself, which LLVM's runtime has a device for. An array lies on the
 * device for 3 steps of one target region each, and comes back at the end. */
#include <omp.h>
#include <stdio.h>

enum { kSteps = 3, kCount = 4096 };

int main(void) {
  static double values[kCount];
  int on_host = 1;
  if (omp_get_num_devices() == 0) return 77;
#pragma omp target map(from : on_host)
  on_host = omp_is_initial_device();
  if (on_host) return 77;
#pragma omp target data map(tofrom : values)
  for (int step = 0; step < kSteps; ++step) {
#pragma omp target teams distribute parallel for
    for (int i = 0; i < kCount; ++i) values[i] += i;
  }
  printf("offload: %g\n", values[kCount - 1]);
  return 0;
}
