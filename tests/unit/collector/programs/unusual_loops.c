/* SPDX-FileCopyrightText: The culprit authors
   SPDX-License-Identifier: Apache-2.0

   Loops that libomp computes otherwise than libgomp unless it is corrected: downwards over unsigned
   numbers, also around and inside other teams, and taskloops that have no iterations. Prints how
   many iterations there were of each, and their sum. */
#include <omp.h>
#include <stdio.h>

typedef unsigned long long Number;

static Number count, sum;

static void add(Number i) {
#pragma omp atomic
  ++count;
#pragma omp atomic
  sum += i;
}

static void tell(const char* what) {
  printf("%s %llu %llu\n", what, count, sum);
  count = sum = 0;
}

/* Both directions within one team, with a team of its own inside each iteration. */
static void nested(Number n) {
#pragma omp parallel num_threads(2)
  {
#pragma omp for schedule(dynamic, 2)
    for (Number i = n; i > 0; --i) {
      add(i);
#pragma omp parallel num_threads(2)
      {
#pragma omp for schedule(dynamic)
        for (Number k = 0; k < 3; ++k) add(k);
#pragma omp for schedule(dynamic)
        for (Number k = 9; k > 5; k -= 2) add(k);
      }
    }
#pragma omp for schedule(guided)
    for (Number i = 3; i < n; i += 4) add(i);
  }
}

int main(void) {
  volatile Number large = 100, none = 0;
  const Number n = large;
  omp_set_max_active_levels(2);
  omp_set_schedule(omp_sched_guided, 3);
#pragma omp parallel for schedule(dynamic, 7)
  for (Number i = n; i > none; --i) add(i);
  tell("dynamic");
#pragma omp parallel for schedule(guided)
  for (Number i = n + 50; i >= 7; i -= 3) add(i);
  tell("guided");
#pragma omp parallel for schedule(runtime)
  for (Number i = ~0ULL; i > ~0ULL - 40; i -= 2) add(~i);
  tell("runtime");
#pragma omp parallel for schedule(dynamic)
  for (Number i = none; i > n; --i) add(i);
  tell("empty");
  Number last = n + 1, ordered = 1;
#pragma omp parallel for ordered schedule(dynamic)
  for (Number i = n; i > none; --i) {
#pragma omp ordered
    {
      if (i >= last) ordered = 0;
      last = i;
    }
    add(i);
  }
  tell("ordered");
  printf("in order %llu\n", ordered);
  nested(n);
  tell("nested");
#pragma omp parallel
#pragma omp single
  {
#pragma omp taskloop grainsize(2)
    for (long i = (long)n; i < (long)none; i += 7) add((Number)i);
#pragma omp taskloop grainsize(2)
    for (Number i = n; i < none; i += 7) add(i);
#pragma omp taskloop
    for (Number i = none; i > n; i -= 7) add(i);
#pragma omp taskloop num_tasks(3)
    for (long i = (long)n; i > 0; i -= 3) add((Number)i);
#pragma omp taskloop
    for (Number i = n; i > 1; i -= 3) add(i);
  }
  tell("tasks");
  Number reduced = 5;
#pragma omp parallel
#pragma omp single
  {
#pragma omp taskloop reduction(+ : reduced)
    for (long i = (long)n; i < (long)none; ++i) reduced += (Number)i;
#pragma omp taskloop reduction(+ : reduced)
    for (Number i = n; i > 10; i -= 3) reduced += i;
  }
  printf("reduced %llu\n", reduced);
  return 0;
}
