/* SPDX-FileCopyrightText: The culprit authors
   SPDX-License-Identifier: Apache-2.0

   Threads of the program's own that use OpenMP each, ten regions of two; one of them goes on when
   main has returned, until the process ends. */
#include <omp.h>
#include <pthread.h>
#include <stdio.h>

enum { kThreads = 3, kRegions = 10 };

static long sum;

static void* regions(void* unused) {
  for (int i = 0; i < kRegions; ++i) {
#pragma omp parallel num_threads(2)
    {
#pragma omp atomic
      sum += 2;
    }
  }
  return unused;
}

static void* for_ever(void* unused) {
  volatile long spins = 0;
  while (spins >= 0) ++spins;
  return unused;
}

int main(void) {
  pthread_t thread[kThreads], endless;
  pthread_create(&endless, NULL, for_ever, NULL);
  for (int i = 0; i < kThreads; ++i) pthread_create(&thread[i], NULL, regions, NULL);
  for (int i = 0; i < kThreads; ++i) pthread_join(thread[i], NULL);
  printf("%ld\n", sum);
  return 0;
}
