/* SPDX-FileCopyrightText: The culprit authors
   SPDX-License-Identifier: Apache-2.0

   Times MPI calls that talk to nobody else, a few user functions deep: what is added to them is the
   collector's own work. One rank, started without a launcher; CPU time of its thread, so that
   others on the machine disturb little. Prints "name nanoseconds" lines. */
#define _POSIX_C_SOURCE 199309L
#include <mpi.h>
#include <stdio.h>
#include <time.h>

#include "counted.h"

enum { kCalls = 200000, kSlowCalls = 50000, kDepth = 5 };

static double cpu_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

#define TIMED(name, count, call)                            \
  do {                                                      \
    const int rounds = rounds_of(count);                    \
    call; /* what the first one alone has to do */          \
    const double begin = cpu_ns();                          \
    CALLGRIND_ZERO_STATS;                                   \
    for (int i = 0; i < rounds; ++i) call;                  \
    CALLGRIND_DUMP_STATS_AT(name);                          \
    printf("%s %.1f\n", name, (cpu_ns() - begin) / rounds); \
  } while (0)

static void time_calls(void) {
  int x = 1, y = 0, flag;
  const int one[1] = {1}, zero[1] = {0}, open_ends[1] = {1}, ring[1] = {1};
  int from_neighbours[2];
  MPI_Status status;
  MPI_Request request;
  MPI_Comm cart;
  MPI_Cart_create(MPI_COMM_SELF, 1, open_ends, ring, 0, &cart);
  TIMED("send_to_nobody", kCalls, MPI_Send(&x, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD));
  TIMED("iprobe_nothing", kCalls, MPI_Iprobe(0, 5, MPI_COMM_WORLD, &flag, &status));
  TIMED("sendrecv_self", kCalls,
        MPI_Sendrecv(&x, 1, MPI_INT, 0, 0, &y, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &status));
  TIMED("isend_recv_wait", kCalls, {
    MPI_Isend(&x, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &request);
    MPI_Recv(&y, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &status);
    MPI_Wait(&request, &status);
  });
  TIMED("barrier_self", kCalls, MPI_Barrier(MPI_COMM_SELF));
  TIMED("alltoallv_zeros", kSlowCalls,
        MPI_Alltoallv(&x, zero, zero, MPI_INT, &y, zero, zero, MPI_INT, MPI_COMM_SELF));
  TIMED("alltoallv", kSlowCalls,
        MPI_Alltoallv(&x, one, zero, MPI_INT, &y, one, zero, MPI_INT, MPI_COMM_SELF));
  TIMED("neighbor_allgather", kSlowCalls,
        MPI_Neighbor_allgather(&x, 1, MPI_INT, from_neighbours, 1, MPI_INT, cart));
  MPI_Comm_free(&cart);
}

static int descend(int depth) {
  if (depth == 0) {
    time_calls();
    return 0;
  }
  return descend(depth - 1) + 1; /* not a tail call: each has a frame */
}

int main(void) {
  MPI_Init(NULL, NULL);
  const int depth = descend(kDepth);
  MPI_Finalize();
  return depth == kDepth ? 0 : 1;
}
