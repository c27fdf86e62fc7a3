// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Where threads are between events, by cases whose answer does not hang on the machine's speed.
//   phases wrapper    computes in one function, meets the others in another
//   phases sleep      sleeps in a function between two calls of a wrapper, one sleep of each kind
//   phases early      computes before MPI is initialised
//   phases thread     a thread of the program's own computes, and ends
#include <errno.h>
#include <mpi.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/select.h>
#include <time.h>
#include <unistd.h>

#define OWN __attribute__((noinline, noclone)) static

static volatile double sink;

/// By its own CPU time: as many samples as can be expected.
static void compute_for(double seconds) {
  struct timespec begin, now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
  do {
    for (int i = 0; i < 2000; ++i) sink = sink + i;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  } while ((double)(now.tv_sec - begin.tv_sec) + 1e-9 * (double)(now.tv_nsec - begin.tv_nsec) <
           seconds);
}

OWN void wrap_barrier(void) {
  MPI_Barrier(MPI_COMM_WORLD);
  sink = 0;
}

OWN void compute(double seconds) {
  compute_for(seconds);
  sink = 0;
}

OWN void read_mesh(void) {
  compute_for(0.5);
  sink = 0;
}

OWN void* helper(void* nothing) {
  compute_for(0.5);
  sink = 0;
  return nothing;
}

OWN void fail(const char* what) {
  fprintf(stderr, "%s was interrupted: %s\n", what, strerror(errno));
  exit(1);
}

OWN void nap(void) {
  const struct timespec time = {0, 100 * 1000 * 1000};
  struct timeval interval = {0, 100 * 1000};
  if (usleep(100 * 1000) != 0) fail("usleep");
  if (nanosleep(&time, NULL) != 0) fail("nanosleep");
  if (clock_nanosleep(CLOCK_MONOTONIC, 0, &time, NULL) != 0) fail("clock_nanosleep");
  if (poll(NULL, 0, 100) != 0) fail("poll");
  if (select(0, NULL, NULL, NULL, &interval) != 0) fail("select");
  if (sleep(1) != 0) fail("sleep");
  sink = 0;
}

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "";
  if (strcmp(what, "early") == 0) read_mesh();
  int rank, level;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (strcmp(what, "wrapper") == 0) {
    for (int i = 0; i < 500; ++i) {
      if (rank == 0) compute(0.002);
      wrap_barrier();
    }
  } else if (strcmp(what, "sleep") == 0) {
    wrap_barrier();
    if (rank == 0) nap();
    wrap_barrier();
  } else if (strcmp(what, "thread") == 0) {
    pthread_t thread;
    if (rank == 0 && pthread_create(&thread, NULL, helper, NULL) == 0) pthread_join(thread, NULL);
    wrap_barrier();
  }
  MPI_Finalize();
  printf("phases: done\n");
  return 0;
}
