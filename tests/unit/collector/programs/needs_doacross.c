/* SPDX-FileCopyrightText: The culprit authors
   SPDX-License-Identifier: Apache-2.0

   A loop whose iterations wait for earlier ones. */
#include <stdio.h>

int main(void) {
  long sums[100] = {0};
#pragma omp parallel for ordered(1) num_threads(3)
  for (int i = 1; i < 100; ++i) {
#pragma omp ordered depend(sink : i - 1)
    sums[i] = sums[i - 1] + i;
#pragma omp ordered depend(source)
  }
  printf("%ld\n", sums[99]);
  return 0;
}
