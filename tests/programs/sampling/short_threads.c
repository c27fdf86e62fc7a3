/* SPDX-FileCopyrightText: The culprit authors
   SPDX-License-Identifier: Apache-2.0

   Waves of threads that live for one message, of two functions in turn: 100 waves of 3, each after
   the end of the last. Then some that live at the same time for long enough to be sampled. */
#include <mpi.h>
#include <pthread.h>
#include <time.h>

enum { kWaves = 100, kTogether = 3 };

static void message(void) {
  int sent = 1, got = 0;
  MPI_Sendrecv(&sent, 1, MPI_INT, 0, 7, &got, 1, MPI_INT, 0, 7, MPI_COMM_SELF, MPI_STATUS_IGNORE);
}

static void* odd(void* argument) {
  message();
  return argument;
}

static void* even(void* argument) {
  message();
  return argument;
}

/* By its own CPU time: as many samples as can be expected. */
static void* long_one(void* argument) {
  struct timespec begin, now;
  message();
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
  do {
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  } while ((double)(now.tv_sec - begin.tv_sec) + 1e-9 * (double)(now.tv_nsec - begin.tv_nsec) <
           0.1);
  return argument;
}

static void wave(void* (*function)(void*)) {
  pthread_t threads[kTogether];
  for (int i = 0; i < kTogether; ++i) pthread_create(&threads[i], NULL, function, NULL);
  for (int i = 0; i < kTogether; ++i) pthread_join(threads[i], NULL);
}

int main(int argc, char** argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  if (provided < MPI_THREAD_MULTIPLE) return 77;
  for (int i = 0; i < kWaves; ++i) wave(i % 2 == 0 ? even : odd);
  wave(long_one);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
