/* SPDX-FileCopyrightText: The culprit authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Two ranks exchange kMessages small messages after each of kSteps steps. In each, rank 0 works
 * 3 ms longer than rank 1, which waits. Prints how long MPI_Init took. */
#include <mpi.h>
#include <stdio.h>

#include "work.h"

enum { kSteps = 150, kMessages = 100 };

KERNEL void advance(void) {
  WORK_MS(4);
}

KERNEL void refine(void) {
  WORK_MS(3);
}

int main(int argc, char** argv) {
  struct timespec begin, end;
  clock_gettime(CLOCK_MONOTONIC, &begin);
  MPI_Init(&argc, &argv);
  clock_gettime(CLOCK_MONOTONIC, &end);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int step = 0; step < kSteps; ++step) {
    advance();
    if (rank == 0) refine();
    for (int i = 0; i < kMessages; ++i) {
      int mine = i, other;
      MPI_Sendrecv(&mine, 1, MPI_INT, 1 - rank, 0, &other, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD,
                   MPI_STATUS_IGNORE);
    }
  }
  if (rank == 0) {
    const double ns = 1e-9 * (double)(end.tv_nsec - begin.tv_nsec);
    printf("MPI_Init took %.3f s\n", (double)(end.tv_sec - begin.tv_sec) + ns);
  }
  MPI_Finalize();
  return 0;
}
