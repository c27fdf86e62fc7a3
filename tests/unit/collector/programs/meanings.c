/* SPDX-FileCopyrightText: The culprit authors
   SPDX-License-Identifier: Apache-2.0

   What constructs say beyond their begin and end, in numbers that the test knows: tasks with
   dependences and flags, taskwaits with dependences on a thread that was a worker before (LLVM's
   runtime aborts if a tool has marked its implicit task), loops by schedule, locks that nest,
   cancellation, work given to a device. Prints a sum that is wrong if the runtime is. */
#include <omp.h>
#include <stdio.h>

enum { kRegions = 3, kThreads = 3, kIterations = 100 };

static long a[2], b, sum;

static void tasks(void) {
#pragma omp task depend(out : a[0])
  a[0] = 1;
#pragma omp task depend(in : a[0]) depend(inout : a[1])
  a[1] += a[0];
#pragma omp taskwait depend(in : a[1])
#pragma omp task if (0)
  b += 1;
#pragma omp task final(1) untied
  {
#pragma omp atomic
    b += 1;
  }
#pragma omp taskwait
#if defined __clang__ || defined WITH_DETACH
  omp_event_handle_t event;
#pragma omp task detach(event)
  a[1] += 1;
#pragma omp taskyield
  omp_fulfill_event(event);
#pragma omp taskwait
#endif
}

static void locks(omp_lock_t* lock, omp_nest_lock_t* nest) {
  omp_set_lock(lock);
  sum += omp_test_lock(lock);
  omp_unset_lock(lock);
  omp_set_nest_lock(nest);
  sum += omp_test_nest_lock(nest);
  omp_unset_nest_lock(nest);
  omp_unset_nest_lock(nest);
}

int main(void) {
  omp_lock_t lock;
  omp_nest_lock_t nest;
  omp_init_lock(&lock);
  omp_init_nest_lock(&nest);
  for (int region = 0; region < kRegions; ++region) {
#pragma omp parallel num_threads(kThreads) reduction(+ : sum)
    {
#pragma omp for schedule(dynamic, 7)
      for (int i = 0; i < kIterations; ++i) sum += i;
#pragma omp for schedule(guided)
      for (int i = 0; i < kIterations; ++i) sum += i;
      for (int thread = 0; thread < kThreads; ++thread) {
        if (omp_get_thread_num() == thread) tasks();
#pragma omp barrier
      }
    }
  }
  locks(&lock, &nest);
#pragma omp parallel num_threads(kThreads)
  {
#pragma omp cancel parallel
  }
  omp_destroy_nest_lock(&nest);
  omp_destroy_lock(&lock);
  printf("%ld %ld %ld %ld\n", a[0], a[1], b, sum);
  return 0;
}
