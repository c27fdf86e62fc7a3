/* SPDX-FileCopyrightText: The culprit authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Fibonacci numbers by tasks, each of which makes two more: hundreds of thousands of records in a
 * fraction of a second, on each of more threads than there are cores. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

static long fibonacci(int n) {
  long one, other;
  if (n < 2) return n;
#pragma omp task untied shared(one)
  one = fibonacci(n - 1);
#pragma omp task untied shared(other)
  other = fibonacci(n - 2);
#pragma omp taskwait
  return one + other;
}

int main(int argc, char** argv) {
  const int n = argc > 1 ? atoi(argv[1]) : 22;
  long sum = 0;
#pragma omp parallel num_threads(2 * omp_get_num_procs())
#pragma omp single
  sum = fibonacci(n);
  printf("%ld\n", sum);
  return 0;
}
