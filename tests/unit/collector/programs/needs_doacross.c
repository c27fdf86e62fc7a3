/* SPDX-FileCopyrightText: The culprit authors
   SPDX-License-Identifier: Apache-2.0

   Loops whose iterations wait for earlier ones: a single loop, and one around so many that their
   numbers are more than a call usually has arguments. */
#include <stdio.h>

#define LOOP(v) for (int v = 0; v < 1; ++v)
#define LOOPS(v) LOOP(v##0) LOOP(v##1) LOOP(v##2) LOOP(v##3) LOOP(v##4)
#define NUMBERS(v) v##0, v##1, v##2, v##3, v##4

static long sums[100];

static void single(void) {
#pragma omp parallel for ordered(1) num_threads(3)
  for (int i = 1; i < 100; ++i) {
#pragma omp ordered depend(sink : i - 1)
    sums[i] = sums[i - 1] + i;
#pragma omp ordered depend(source)
  }
}

static void deep(void) {
#pragma omp parallel for ordered(21) num_threads(3) schedule(static, 1)
  for (int i = 1; i < 100; ++i) LOOPS(a)
  LOOPS(b)
  LOOPS(c)
  LOOPS(d) {
#pragma omp ordered depend(sink : i - 1, NUMBERS(a), NUMBERS(b), NUMBERS(c), NUMBERS(d))
    sums[i] = sums[i - 1] + i;
#pragma omp ordered depend(source)
  }
}

int main(void) {
  single();
  printf("%ld\n", sums[99]);
  deep();
  printf("%ld\n", sums[99]);
  return 0;
}
