/* SPDX-FileCopyrightText: The culprit authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Compiled with -finstrument-functions, but for all functions other than solve(): as if these were
 * in files, or libraries, of their own. Rank 1 computes longer, whatever else the machine does. */
#include <mpi.h>

#define NOT_INSTRUMENTED __attribute__((noinline, no_instrument_function))

NOT_INSTRUMENTED double leaf(int rank, double x) {
  volatile double kept = x;
  for (int i = 0; i < (rank == 1 ? 30000000 : 10000000); ++i) kept = kept * 0.999999 + 1e-6;
  return kept + 1.0;
}

__attribute__((noinline)) double solve(int rank, double x) {
  return leaf(rank, x) + 1.0;
}

NOT_INSTRUMENTED double inner(int rank, double x) {
  return solve(rank, x) + 1.0;
}

NOT_INSTRUMENTED double mid(int rank, double x) {
  return inner(rank, x) + 1.0;
}

NOT_INSTRUMENTED int main(int argc, char** argv) {
  int rank, step;
  double x = 1.0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (step = 0; step < 6; ++step) {
    x = mid(rank, x);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return x < 0;
}
