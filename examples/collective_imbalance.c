/* SPDX-FileCopyrightText: The culprit authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Disease: one rank is late at a collective operation. 4 ranks; four phases of 2 rounds, and in
 * each another kernel on another rank takes 150 ms longer than the others do.
 *
 * Expected verdict (3 waiting ranks x 2 rounds x 150 ms = 0.9 s, if nothing else is said):
 *   MPI_Barrier    mpi.wait_at_barrier   to blame: sort_particles on 1.0
 *   MPI_Allreduce  mpi.wait_at_nxn       to blame: integrate_forces on 2.0
 *   MPI_Bcast      mpi.late_broadcast    to blame: read_input on 0.0 (the root)
 *   MPI_Reduce     mpi.early_reduce      to blame: compute_energy on 1.0; the root waits, 0.3 s
 * Ranks 2 and 3 hand in their part of the reduction in time and are not held up by it. They wait
 * where they meet the late one next, in MPI_Finalize: mpi.wait_at_nxn, another 0.3 s on each. */
#include <mpi.h>
#include <stdio.h>

#include "work.h"

enum { kRounds = 2, kLateMs = 150 };

KERNEL double sort_particles(double x) {
  WORK_MS(kLateMs);
  return x + 1.0;
}

KERNEL double integrate_forces(double x) {
  WORK_MS(kLateMs);
  return 0.5 * x;
}

KERNEL double read_input(double x) {
  WORK_MS(kLateMs);
  return x + 2.0;
}

KERNEL double compute_energy(double x) {
  WORK_MS(kLateMs);
  return 0.25 * x;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  double x = rank, sum = 0, energy = 0;

  MPI_Barrier(MPI_COMM_WORLD);
  for (int round = 0; round < kRounds; ++round) {
    if (rank == 1) x = sort_particles(x);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  for (int round = 0; round < kRounds; ++round) {
    if (rank == 2) x = integrate_forces(x);
    MPI_Allreduce(&x, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
  for (int round = 0; round < kRounds; ++round) {
    if (rank == 0) sum = read_input(sum);
    MPI_Bcast(&sum, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  }
  x += sum;
  for (int round = 0; round < kRounds; ++round) {
    if (rank == 1) x = compute_energy(x);
    MPI_Reduce(&x, &energy, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  }
  if (rank == 0) printf("collective_imbalance: energy %.6f\n", energy);
  MPI_Finalize();
  return 0;
}
