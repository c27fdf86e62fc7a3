/* SPDX-FileCopyrightText: The culprit authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Disease: imbalance in an OpenMP region; no MPI at all. 4 threads update their cells for 20 ms in
 * each of 3 sweeps. All contacts happen to lie in the last thread's part: it resolves them for 200
 * ms more, and the three others wait at the end of the region.
 *
 * Expected verdict: omp.barrier on 0.0, 0.1 and 0.2, 3 times 0.2 s each, 1.8 s in all.
 * To blame: resolve_contacts on 0.3, short-term 1.8 s. */
#include <omp.h>
#include <stdio.h>

#include "work.h"

enum { kThreads = 4, kSweeps = 3 };

KERNEL double update_cells(double x) {
  WORK_MS(20);
  return 0.5 * x + 1.0;
}

KERNEL double resolve_contacts(double x) {
  WORK_MS(200);
  return x + 0.125;
}

int main(void) {
  double part[kThreads] = {0};
  omp_set_dynamic(0);
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
#pragma omp parallel num_threads(kThreads)
    {
      const int me = omp_get_thread_num();
      part[me] = update_cells(part[me]);
      if (me == kThreads - 1) part[me] = resolve_contacts(part[me]);
    }
  }
  double sum = 0;
  for (int i = 0; i < kThreads; ++i) sum += part[i];
  printf("omp_imbalance: sum %.6f\n", sum);
  return 0;
}
