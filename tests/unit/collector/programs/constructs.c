/* SPDX-FileCopyrightText: The culprit authors
   SPDX-License-Identifier: Apache-2.0

   Every OpenMP construct that the collector tells apart, in numbers that the test knows: 5 regions
   of 3 threads, in each a dynamic loop, a critical section, a single with 4 tasks, two barriers
   more. Prints a sum that is wrong if the runtime is. */
#include <omp.h>
#include <stdio.h>

enum { kRegions = 5, kThreads = 3, kTasks = 4 };

int main(void) {
  long sum = 0, tasks = 0;
  omp_lock_t lock;
  omp_init_lock(&lock);
  for (int region = 0; region < kRegions; ++region) {
#pragma omp parallel num_threads(kThreads) reduction(+ : sum)
    {
#pragma omp for schedule(dynamic, 7)
      for (int i = 0; i < 1000; ++i) sum += i;
#pragma omp critical
      sum += omp_get_num_threads();
#pragma omp single
      for (int i = 0; i < kTasks; ++i) {
#pragma omp task shared(tasks)
        {
#pragma omp atomic
          tasks += i;
        }
      }
#pragma omp barrier
      omp_set_lock(&lock);
      sum += 1;
      omp_unset_lock(&lock);
    }
  }
  omp_destroy_lock(&lock);
  printf("%ld %ld\n", sum, tasks);
  return 0;
}
