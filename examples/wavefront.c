/* SPDX-FileCopyrightText: The culprit authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Disease: a chain of late senders. 4 ranks pass a front from rank to rank in each of 3 sweeps;
 * every rank works on its block for 20 ms before it hands on. Rank 0 factorises a block first, for
 * 200 ms, and the delay runs down the chain: what rank 3 waits for happened three ranks away.
 *
 * Expected verdict: mpi.late_sender at MPI_Recv on 1.0 0.62 s, on 2.0 0.64 s, on 3.0 0.66 s: 1.92 s
 * in all.
 * To blame: factor_block on 0.0, short-term 0.6 s (rank 1) and long-term 1.2 s (ranks 2 and 3). The
 * first sweep fills the pipeline: 20 ms of sweep_block on each earlier rank are answerable for the
 * rest. */
#include <mpi.h>
#include <stdio.h>

#include "work.h"

enum { kSweeps = 3, kTag = 7 };

KERNEL double factor_block(double x) {
  WORK_MS(200);
  return x + 1.0;
}

KERNEL double sweep_block(double front) {
  WORK_MS(20);
  return 0.5 * front + 1.0;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  double front = 0;

  MPI_Barrier(MPI_COMM_WORLD);
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    if (rank == 0) {
      front = factor_block(front);
    } else {
      MPI_Recv(&front, 1, MPI_DOUBLE, rank - 1, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    front = sweep_block(front);
    if (rank + 1 < ranks) MPI_Send(&front, 1, MPI_DOUBLE, rank + 1, kTag, MPI_COMM_WORLD);
  }
  if (rank == ranks - 1) printf("wavefront: front %.6f\n", front);
  MPI_Finalize();
  return 0;
}
