// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Two or more ranks that write a file together again and again, every so many milliseconds from a
// begin on that they have in common, or at times without a rule. Each phase is three calls. Rank 0
// tells when each phase began and when all had written: what a period must be judged by, however
// late the machine was.
//
//   writes FILE regular|irregular MILLISECONDS PHASES
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_REALTIME, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void sleep_until(double moment) {
  const struct timespec until = {(time_t)moment, (long)((moment - (double)(time_t)moment) * 1e9)};
  clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &until, NULL);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc != 5) MPI_Abort(MPI_COMM_WORLD, 2);
  static const double irregular[] = {0.2, 1.6, 0.4, 2.5, 0.8, 0.3, 3.6, 0.6, 1.3, 0.2, 2.8, 0.4};
  enum { kValues = 65536, kCalls = 3 };
  static double values[kValues];
  const int is_regular = strcmp(argv[2], "regular") == 0, phases = atoi(argv[4]);
  const double period = atof(argv[3]) / 1000;
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_File file;
  MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
  double due = now() + 0.3;
  MPI_Bcast(&due, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  for (int i = 0; i < phases; ++i) {
    sleep_until(due);
    MPI_Barrier(MPI_COMM_WORLD);
    const double onset = now();
    for (int call = 0; call < kCalls; ++call) {
      MPI_File_write_all(file, values, kValues, MPI_DOUBLE, MPI_STATUS_IGNORE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) printf("onset %.6f end %.6f\n", onset, now());
    due += period * (is_regular ? 1 : irregular[i % 12]);
  }
  MPI_File_close(&file);
  MPI_Finalize();
  return 0;
}
