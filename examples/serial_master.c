/* SPDX-FileCopyrightText: The culprit authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Disease: the master works alone and the threads of the pool idle. No MPI. 4 threads update their
 * cells for 20 ms in each of 4 regions; between two regions the master assembles a matrix for 200
 * ms.
 *
 * Expected verdict: omp.idle_threads on 0.1, 0.2 and 0.3, 3 times 0.2 s each, 1.8 s in all.
 * To blame: assemble_matrix on 0.0, short-term 1.8 s. */
#include <omp.h>
#include <stdio.h>

#include "work.h"

enum { kThreads = 4, kRegions = 4 };

KERNEL double update_cells(double x) {
  WORK_MS(20);
  return 0.5 * x + 1.0;
}

KERNEL void assemble_matrix(double* part) {
  WORK_MS(200);
  for (int i = 0; i < kThreads; ++i) part[i] += 0.125 * i;
}

int main(void) {
  double part[kThreads] = {0};
  omp_set_dynamic(0);
  for (int region = 0; region < kRegions; ++region) {
    if (region > 0) assemble_matrix(part);
#pragma omp parallel num_threads(kThreads)
    {
      const int me = omp_get_thread_num();
      part[me] = update_cells(part[me]);
    }
  }
  double sum = 0;
  for (int i = 0; i < kThreads; ++i) sum += part[i];
  printf("serial_master: sum %.6f\n", sum);
  return 0;
}
