/* SPDX-FileCopyrightText: The culprit authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Disease: a chain from a slow thread on one rank to a wait on another. 2 ranks x 2 threads, 3
 * steps. On rank 0 the worker thread resolves contacts for 200 ms longer than its master works; so
 * the master waits at the end of the region and sends late; so rank 1 waits in MPI_Recv; and so
 * rank 1's worker has nothing to do.
 *
 * Expected verdict: omp.barrier on 0.0, 3 times, 0.6 s; mpi.late_sender at MPI_Recv on 1.0, 3
 * times, 0.6 s; omp.idle_threads on 1.1 for as long (and while MPI starts and ends).
 * To blame for all of it: resolve_contacts on 0.1, 1.8 s: short-term 0.6 s (its master), long-term
 * 0.6 s (the other rank's master) and 0.6 s (that one's worker). Rank 0's MPI_Send is innocent. */
#include <mpi.h>
#include <omp.h>
#include <stdio.h>

#include "work.h"

enum { kThreads = 2, kSteps = 3, kTag = 7 };

KERNEL double update_cells(double x) {
  WORK_MS(50);
  return 0.5 * x + 1.0;
}

KERNEL double resolve_contacts(double x) {
  WORK_MS(200);
  return x + 0.125;
}

static void advance(int rank, double* part) {
#pragma omp parallel num_threads(kThreads)
  {
    const int me = omp_get_thread_num();
    part[me] = update_cells(part[me]);
    if (rank == 0 && me == 1) part[me] = resolve_contacts(part[me]);
  }
}

int main(int argc, char** argv) {
  int provided, rank;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  double part[kThreads] = {0};
  double halo = 0;

  omp_set_dynamic(0);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int step = 0; step < kSteps; ++step) {
    advance(rank, part);
    if (rank == 0) {
      MPI_Send(&part[1], 1, MPI_DOUBLE, 1, kTag, MPI_COMM_WORLD);
    } else if (rank == 1) {
      MPI_Recv(&halo, 1, MPI_DOUBLE, 0, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      part[0] += halo;
    }
  }
  if (rank == 1) printf("hybrid_chain: result %.6f\n", part[0] + part[1]);
  MPI_Finalize();
  return 0;
}
