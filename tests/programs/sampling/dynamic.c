// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// One loop, and a thread that begins before there is any OpenMP. gcc's combined constructs tell the
// master alone where they stand.
#include <pthread.h>
#include <stdio.h>
#include <time.h>

#define OWN __attribute__((noinline, noclone)) static

static volatile double sink;

OWN void body(double seconds) {
  struct timespec begin, now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
  do {
    for (int i = 0; i < 2000; ++i) sink = sink + i;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  } while ((double)(now.tv_sec - begin.tv_sec) + 1e-9 * (double)(now.tv_nsec - begin.tv_nsec) <
           seconds);
}

OWN void* early_helper(void* nothing) {
  body(0.3);
  sink = 0;
  return nothing;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, early_helper, NULL);
  body(0.3);
  pthread_join(thread, NULL);
#pragma omp parallel for schedule(dynamic) num_threads(2)
  for (int i = 0; i < 40; ++i) body(0.02);
  printf("dynamic: done\n");
  return 0;
}
