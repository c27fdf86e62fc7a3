/* SPDX-FileCopyrightText: The culprit authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * A program that dies in the way its argument names: abort, crash, exit, mpi_abort or kill; or
 * returns 3 when all is done: late. Before that, rank 0 sends 300 ms late (compute_flux), so that
 * whatever is left of the measurement has something to tell. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "work.h"

KERNEL double compute_flux(double x) {
  WORK_MS(300);
  return x + 1.0;
}

KERNEL void corrupt(int* place) {
  WORK_MS(200);
  *(volatile int*)place = 1;
}

static void die(const char* how, int rank) {
  if (!strcmp(how, "exit")) exit(3);
  if (rank != 1) return;
  if (!strcmp(how, "abort")) abort();
  if (!strcmp(how, "crash")) corrupt(NULL);
  if (!strcmp(how, "mpi_abort")) MPI_Abort(MPI_COMM_WORLD, 5);
  if (!strcmp(how, "kill")) kill(getpid(), SIGKILL);
}

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  double x = 0;

  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    x = compute_flux(x);
    MPI_Send(&x, 1, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
  } else if (rank == 1) {
    MPI_Recv(&x, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  if (!strcmp(argv[1], "late")) return MPI_Finalize() + 3;
  die(argv[1], rank);
  /* The survivors of abort, mpi_abort and kill wait for a message that never comes. */
  MPI_Recv(&x, 1, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Finalize();
  return 0;
}
