// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Two threads spend their time in a function of the C library that has one lock for all; one of
// them four times as much as the other, so that it is waited for. It takes long enough for samples.
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

__attribute__((noinline)) static long throw_darts(long n) {
  long inside = 0;
  for (long i = 0; i < n; ++i) {
    const double x = rand() / (double)RAND_MAX, y = rand() / (double)RAND_MAX;
    inside += x * x + y * y < 1;
  }
  return inside;
}

int main(void) {
  long inside = 0;
#pragma omp parallel num_threads(2) reduction(+ : inside)
  inside += throw_darts(omp_get_thread_num() == 1 ? 24000000 : 6000000);
  printf("%ld\n", inside);
}
