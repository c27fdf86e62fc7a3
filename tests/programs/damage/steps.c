/* SPDX-FileCopyrightText: The culprit authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * A short hybrid program with many records: logs of several windows, of threads that are still
 * there at the end and of one that has ended. It ends in order, or is killed ("kill"). */
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

enum { STEPS = 500, LATE_US = 50 };

static double g_sums[2];

static void* help(void* unused) {
  for (int i = 0; i < 50; ++i) {
#pragma omp parallel num_threads(1)
    g_sums[1] += i;
  }
  return unused;
}

static void step(int i, int rank) {
  double x = i;
  if (rank == 0) {
    usleep(LATE_US);
    MPI_Send(&x, 1, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD);
  } else if (rank == 1) {
    MPI_Recv(&x, 1, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
#pragma omp parallel num_threads(2)
  {
#pragma omp critical
    g_sums[0] += x;
  }
  if (i % 10 == 0) MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
  int level, rank;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  step(1, -1); /* so that this is OpenMP's first thread, which must not end (libomp's critical) */
  pthread_t helper;
  if (pthread_create(&helper, NULL, help, NULL) != 0) return 1;
  pthread_join(helper, NULL);
  for (int i = 0; i < STEPS; ++i) step(i, rank);
  if (argc > 1 && strcmp(argv[1], "kill") == 0) {
    MPI_Barrier(MPI_COMM_WORLD);
    kill(getpid(), SIGKILL);
  }
  MPI_Finalize();
  return 0;
}
