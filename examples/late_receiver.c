/* SPDX-FileCopyrightText: The culprit authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Disease: late receiver. 2 ranks; rank 0 hands 4 MiB to rank 1 in each of 3 steps. So large a
 * message goes only when its receive is posted, and rank 1 assembles its right-hand side for 200 ms
 * first.
 *
 * Expected verdict: mpi.late_receiver at main/MPI_Send on 0.0, 3 times, 0.6 s.
 * To blame: assemble_rhs on 1.0, short-term 0.6 s. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "work.h"

enum { kSteps = 3, kField = 512 * 1024, kTag = 7 };

KERNEL void advance_interior(double* field) {
  WORK_MS(50);
  for (int i = 0; i < kField; i += 1024) field[i] = 0.5 * field[i] + 1.0;
}

KERNEL double assemble_rhs(double norm) {
  WORK_MS(200);
  return 0.5 * norm;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  double* field = calloc(kField, sizeof *field);
  double norm = 1.0;
  if (!field) MPI_Abort(MPI_COMM_WORLD, 1);

  MPI_Barrier(MPI_COMM_WORLD);
  for (int step = 0; step < kSteps; ++step) {
    advance_interior(field);
    if (rank == 0) {
      MPI_Send(field, kField, MPI_DOUBLE, 1, kTag, MPI_COMM_WORLD);
    } else if (rank == 1) {
      norm = assemble_rhs(norm);
      MPI_Recv(field, kField, MPI_DOUBLE, 0, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      norm += field[1024 * step];
    }
  }
  if (rank == 1) printf("late_receiver: norm %.6f\n", norm);
  free(field);
  MPI_Finalize();
  return 0;
}
