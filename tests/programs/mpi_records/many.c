/* SPDX-FileCopyrightText: The culprit authors
   SPDX-License-Identifier: Apache-2.0

   Very many communicators, made and freed, 500 of them alive at once, and very many requests under
   way at the same time. Wants 2 processes; arguments: how many communicators, how many requests (a
   multiple of 100). Prints what posting one costs in nanoseconds, among the first tenth of them and
   among the last, and completing one with a message. */
#define _POSIX_C_SOURCE 199309L
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { kAlive = 500, kTogether = 100 };

static double now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

static int communicators(int count) {
  MPI_Comm alive[kAlive];
  int sum = 0;
  for (int i = 0; i < count; ++i) {
    MPI_Comm* const comm = &alive[i % kAlive];
    if (i >= kAlive) MPI_Comm_free(comm);
    MPI_Comm_dup(MPI_COMM_WORLD, comm);
    int one = 1, all = 0;
    MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, *comm);
    sum += all;
  }
  for (int i = 0; i < count && i < kAlive; ++i) MPI_Comm_free(&alive[i]);
  return sum == 2 * count;
}

/* The receives are all open at the same time, the sends a few at a time: of those an MPI may hold
   less, or look at every open one each time that one completes. */
static int requests(int count, int rank) {
  MPI_Request* const receives = malloc((size_t)count * sizeof *receives);
  MPI_Request sends[kTogether];
  int* const value = malloc((size_t)count * sizeof *value);
  const int tenth = count / 10;
  double times[4] = {0};
  int right = 0;
  for (int i = 0; i < count; ++i) {
    if (i == 0) times[0] = now_ns();
    if (i == tenth) times[1] = now_ns();
    if (i == count - tenth) times[2] = now_ns();
    MPI_Irecv(&value[i], 1, MPI_INT, 0, 3, MPI_COMM_SELF, &receives[i]);
  }
  times[3] = now_ns();
  for (int i = 0; i + kTogether <= count; i += kTogether) {
    for (int j = 0; j < kTogether; ++j) {
      const int number = i + j;
      MPI_Isend(&number, 1, MPI_INT, 0, 3, MPI_COMM_SELF, &sends[j]);
      MPI_Wait(&sends[j], MPI_STATUS_IGNORE);
    }
    MPI_Waitall(kTogether, &receives[i], MPI_STATUSES_IGNORE);
  }
  const double end = now_ns();
  for (int i = 0; i < count; ++i) right += value[i] == i;
  printf("rank %d: post %.0f, later %.0f, complete %.0f ns\n", rank, (times[1] - times[0]) / tenth,
         (times[3] - times[2]) / tenth, (end - times[3]) / count);
  free(receives);
  free(value);
  return right == count;
}

int main(int argc, char** argv) {
  int rank = 0;
  if (argc < 3) return 2;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int right = communicators(atoi(argv[1])) && requests(atoi(argv[2]), rank);
  MPI_Finalize();
  return right ? 0 : 1;
}
