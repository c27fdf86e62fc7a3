/* SPDX-FileCopyrightText: The culprit authors
   SPDX-License-Identifier: Apache-2.0

   All ranks work at once, and so do as many threads of each as are asked for: the same number of
   operations each, in three steps, or as many as are asked for, with a barrier behind each. With
   fewer cores than threads all of them lack cores in their work, and hardly wait. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static const long kOperations = 60000000;

static __attribute__((noinline)) double work(void) {
  volatile double kept = 1.0;
  double x = kept;
  for (long i = 0; i < kOperations; ++i) x = x * 0.999999 + 1e-6;
  kept = x;
  return kept;
}

int main(int argc, char** argv) {
  const int threads = argc > 1 ? atoi(argv[1]) : 1;
  const int steps = argc > 2 ? atoi(argv[2]) : 3;
  double sum = 0;
  MPI_Init(&argc, &argv);
  for (int step = 0; step < steps; ++step) {
#pragma omp parallel num_threads(threads) reduction(+ : sum) if (threads > 1)
    sum += work();
    MPI_Barrier(MPI_COMM_WORLD);
  }
  if (sum < 0) puts("crowded: never");
  MPI_Finalize();
  return 0;
}
