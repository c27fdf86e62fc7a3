/* SPDX-FileCopyrightText: The culprit authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * late <ms> <rounds> [<file> | <more arguments>]: in each round rank 0 sends to everybody else,
 * <ms> late (it sleeps, so that a busy machine changes nothing). If <file> begins with '/', the
 * program then makes it and stays in MPI_Recv until it is killed; if it is "listen", all leave a
 * receive from anybody open to the end. Prints its arguments, as it got them. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static __attribute__((noinline)) void dawdle(long ms) {
  const struct timespec length = {ms / 1000, ms % 1000 * 1000000};
  nanosleep(&length, NULL);
}

static void stay(const char* file) {
  int never;
  FILE* made = fopen(file, "w");
  if (made) fclose(made);
  MPI_Recv(&never, 1, MPI_INT, MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, size, value = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const long ms = argc > 1 ? atol(argv[1]) : 100;
  const int rounds = argc > 2 ? atoi(argv[2]) : 1;
  for (int round = 0; round < rounds; ++round) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
      dawdle(ms);
      for (int to = 1; to < size; ++to) MPI_Send(&value, 1, MPI_INT, to, 7, MPI_COMM_WORLD);
    } else {
      MPI_Recv(&value, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
  }
  if (argc > 3 && argv[3][0] == '/') stay(argv[3]);
  MPI_Request request;
  if (argc > 3 && strcmp(argv[3], "listen") == 0) {
    MPI_Irecv(&value, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &request);
  }
  if (rank == 0) {
    printf("late: %d ranks", size);
    for (int i = 3; i < argc; ++i) printf(" [%s]", argv[i]);
    printf("\n");
  }
  MPI_Finalize();
  return 0;
}
