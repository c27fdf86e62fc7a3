// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0
//
// Phases of a known length in two functions, 2 : 1, over and over; they are far shorter than the
// time between two samples, or far longer.
#include "truth.h"

TAKES_TIME(assemble_matrix)
TAKES_TIME(apply_boundary)

static void two_phases(void) {
  ROUNDS {
    if (rank == 1) {
      assemble_matrix(truth_ms);
      apply_boundary(truth_ms / 2);
    }
    TIMED(MPI_Barrier(MPI_COMM_WORLD));
  }
}

// Both ranks do both, rank 1 twice as much of the first.
static void uneven_phases(void) {
  ROUNDS {
    assemble_matrix(rank == 1 ? truth_ms * 2 : truth_ms);
    apply_boundary(truth_ms / 2);
    TIMED(MPI_Allreduce(MPI_IN_PLACE, &(int){0}, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
  }
}

TRUTH_LOUD static void wrap_barrier(void) {
  TIMED(MPI_Barrier(MPI_COMM_WORLD));
}
TRUTH_LOUD static void wrap_reduce(void) {
  TIMED(MPI_Allreduce(MPI_IN_PLACE, &(int){0}, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
}

// A phase before each of two wrappers.
static void wrapped_phases(void) {
  ROUNDS {
    if (rank == 1) assemble_matrix(truth_ms);
    wrap_barrier();
    if (rank == 1) apply_boundary(truth_ms / 2);
    wrap_reduce();
  }
}

static const struct truth_case cases[] = {
    {"two_phases", two_phases},
    {"uneven_phases", uneven_phases},
    {"wrapped_phases", wrapped_phases},
};

TRUTH_MPI_MAIN(cases)
