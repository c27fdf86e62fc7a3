// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Sleeps whose lengths are known functions of the number of ranks p and of the first argument n:
// regions `constant` (60 ms), `linear` (15 ms * p), `logarithm` (40 ms * log2(p)), `sized`
// (1 ms * n); and `late`, in which rank 0 takes 15 ms * p before a barrier, so that the others
// wait.
#include <math.h>
#include <mpi.h>
#include <stdlib.h>
#include <time.h>

#include "culprit.h"

static void spend(const char* region, double seconds) {
  const struct timespec length = {(time_t)seconds, (long)((seconds - floor(seconds)) * 1e9)};
  culprit_region_begin(region);
  nanosleep(&length, NULL);
  culprit_region_end(region);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int p, rank;
  MPI_Comm_size(MPI_COMM_WORLD, &p);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const double n = argc > 1 ? atof(argv[1]) : 0;
  MPI_Barrier(MPI_COMM_WORLD);
  spend("constant", 0.060);
  spend("linear", 0.015 * p);
  spend("logarithm", 0.040 * log2(p));
  spend("sized", 0.001 * n);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) spend("late", 0.015 * p);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
