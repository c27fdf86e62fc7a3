// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0
//
// MPI and OpenMP: chains from a thread to another rank and from a rank to another's threads. Two
// ranks; the second has no team unless the case needs one.
#include "truth.h"

#include <omp.h>

#define WORLD MPI_COMM_WORLD
#define IGNORE MPI_STATUS_IGNORE

static int x;

TAKES_TIME(late)
TAKES_TIME(serial_part)

static int me(void) {
  return omp_get_thread_num();
}

// Thread 1 of rank 0 -> its master, at the end of the region -> rank 1, in MPI_Recv.
static void thread_to_rank(void) {
  ROUNDS {
    if (rank == 0) {
      long end[2];
#pragma omp parallel num_threads(2)
      {
        if (me() == 1) late(truth_ms);
        end[me()] = truth_now();
      }
      truth_waited_ns += end[1] - end[0];
      MPI_Send(&x, 1, MPI_INT, 1, 0, WORLD);
    } else if (rank == 1) {
      TIMED(MPI_Recv(&x, 1, MPI_INT, 0, 0, WORLD, IGNORE));
    }
  }
}

// The same through an Allreduce of all.
static void thread_to_all(void) {
  ROUNDS {
    if (rank == 0) {
      long end[2];
#pragma omp parallel num_threads(2)
      {
        if (me() == 1) late(truth_ms);
        end[me()] = truth_now();
      }
      truth_waited_ns += end[1] - end[0];
    }
    TIMED(MPI_Allreduce(MPI_IN_PLACE, &x, 1, MPI_INT, MPI_SUM, WORLD));
  }
}

// Rank 0 -> master of rank 1 in MPI_Recv inside a region -> its thread 1 at the barrier.
static void rank_to_thread(void) {
  if (rank == 0) {
    ROUNDS {
      late(truth_ms);
      MPI_Send(&x, 1, MPI_INT, 1, 0, WORLD);
    }
  } else if (rank == 1) {
#pragma omp parallel num_threads(2)
    ROUNDS {
      if (me() == 0) TIMED(MPI_Recv(&x, 1, MPI_INT, 0, 0, WORLD, IGNORE));
      TIMED(_Pragma("omp barrier"));
    }
  }
}

// Each thread has a message of its own; that of thread 1 is late, by thread 1 of the other rank.
static void thread_to_thread(void) {
#pragma omp parallel num_threads(2)
  ROUNDS {
    if (rank == 0) {
      if (me() == 1) late(truth_ms);
      MPI_Send(&x, 1, MPI_INT, 1, me(), WORLD);
    } else if (rank == 1) {
      int y;
      TIMED(MPI_Recv(&y, 1, MPI_INT, 0, me(), WORLD, IGNORE));
    }
    TIMED(_Pragma("omp barrier"));
  }
}

// Both ranks' second threads have nothing to do while their masters work alone, and talk.
static void serial_masters(void) {
  ROUNDS {
    serial_part(truth_ms);
    MPI_Allreduce(MPI_IN_PLACE, &x, 1, MPI_INT, MPI_SUM, WORLD);
#pragma omp parallel num_threads(2)
    usleep(2000);
  }
}

static const struct truth_case cases[] = {
    {"thread_to_rank", thread_to_rank}, {"thread_to_all", thread_to_all},
    {"rank_to_thread", rank_to_thread}, {"thread_to_thread", thread_to_thread},
    {"serial_masters", serial_masters},
};

TRUTH_MPI_MAIN(cases)
