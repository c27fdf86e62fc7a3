// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0
//
// What costs time though nobody is late: the verdict is to name it, not those who happen to wait.
// Each cause has a twin without it, `..._mended`, which shows what the cause costs.
#include <pthread.h>

#include "truth.h"

#define WORLD MPI_COMM_WORLD

enum { SMALL = 32, JOINED = 1024, MANY = 200000 };

// Rank 0 deals out a table, `joined` rows in a message.
TRUTH_LOUD static void deal_rows(int joined) {
  static char rows[SMALL * JOINED];
  for (int i = 0; i < MANY / joined; ++i) {
    if (rank == 0) {
      MPI_Send(rows, SMALL * joined, MPI_BYTE, 1, 0, WORLD);
    } else if (rank == 1) {
      MPI_Recv(rows, SMALL * joined, MPI_BYTE, 0, 0, WORLD, MPI_STATUS_IGNORE);
    }
  }
}

static void small_messages(void) {
  deal_rows(1);
}
static void small_messages_mended(void) {
  deal_rows(JOINED);
}

static MPI_Comm lanes[2];

TRUTH_LOUD static void add_up(int lane) {
  double one = 1, sum;
  for (int i = 0; i < 100 * truth_rounds; ++i) {
    MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, lanes[lane]);
  }
}

static void* second_lane(void* none) {
  add_up(1);
  return none;
}

static void open_lanes(void) {
  for (int i = 0; i < 2; ++i) MPI_Comm_dup(WORLD, &lanes[i]);
}

// Two threads at once, and then, to compare, one alone.
static void threads_in_mpi(void) {
  open_lanes();
  pthread_t thread;
  pthread_create(&thread, NULL, second_lane, NULL);
  add_up(0);
  pthread_join(thread, NULL);
  MPI_Barrier(WORLD);
  add_up(0);
}
static void threads_in_mpi_mended(void) {
  open_lanes();
  add_up(0);
  add_up(1);
  add_up(0);
}

static const struct truth_case cases[] = {
    {"small_messages", small_messages},
    {"small_messages_mended", small_messages_mended},
    {"threads_in_mpi", threads_in_mpi},
    {"threads_in_mpi_mended", threads_in_mpi_mended},
};

TRUTH_MPI_MAIN(cases)
