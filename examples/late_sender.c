/* SPDX-FileCopyrightText: The culprit authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Disease: late sender. 2 ranks exchange a boundary in each of 3 steps. Rank 0 refines its mesh for
 * 200 ms before it sends; rank 1 sits in MPI_Recv meanwhile.
 *
 * Expected verdict: mpi.late_sender at main/MPI_Recv on 1.0, 3 times, 0.6 s.
 * To blame: refine_mesh on 0.0, short-term 0.6 s. (advance_interior takes 50 ms on both.) */
#include <mpi.h>
#include <stdio.h>

#include "work.h"

enum { kSteps = 3, kBoundary = 32, kTag = 7 };

KERNEL double advance_interior(double energy) {
  WORK_MS(50);
  return 0.5 * energy + 1.0;
}

KERNEL void refine_mesh(double* boundary) {
  WORK_MS(200);
  for (int i = 0; i < kBoundary; ++i) boundary[i] += 0.25 * i;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  double boundary[kBoundary] = {0};
  double energy = 1.0;

  MPI_Barrier(MPI_COMM_WORLD);
  for (int step = 0; step < kSteps; ++step) {
    energy = advance_interior(energy);
    if (rank == 0) {
      refine_mesh(boundary);
      MPI_Send(boundary, kBoundary, MPI_DOUBLE, 1, kTag, MPI_COMM_WORLD);
    } else if (rank == 1) {
      MPI_Recv(boundary, kBoundary, MPI_DOUBLE, 0, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      energy += boundary[step];
    }
  }
  if (rank == 1) printf("late_sender: energy %.6f\n", energy);
  MPI_Finalize();
  return 0;
}
