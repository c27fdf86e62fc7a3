// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Six ranks, arranged in each way that MPI has: as a grid of 2 x 3 that is periodic in its second
// dimension, made twice; as a ring, made by MPI_Graph_create, in the reverse order of ranks; as a
// star, of whose edges rank 5 tells all; and as pairs of a sender and a receiver, who each tell
// their side. Rank 4 computes, its right neighbour in the grid waits for it.
#include <mpi.h>

#include "../../../examples/work.h"

KERNEL void stir(void) {
  WORK_MS(60);
}

static MPI_Comm reversed(int rank) {
  MPI_Comm comm;
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &comm);
  return comm;
}

/* Each has the next one as its neighbour. */
static void make_ring(MPI_Comm comm) {
  const int index[6] = {1, 2, 3, 4, 5, 6}, edges[6] = {1, 2, 3, 4, 5, 0};
  MPI_Comm ring;
  MPI_Graph_create(comm, 6, index, edges, 0, &ring);
}

/* From rank 5 to all others. */
static void make_star(int rank) {
  const int center = 5, degree = 5, others[5] = {0, 1, 2, 3, 4};
  MPI_Comm star;
  MPI_Dist_graph_create(MPI_COMM_WORLD, rank == 5, &center, &degree, others, MPI_UNWEIGHTED,
                        MPI_INFO_NULL, 0, &star);
}

/* From 0 to 1, from 2 to 3, from 4 to 5. */
static void make_pairs(int rank) {
  const int receives = rank % 2, from = rank - 1, to = rank + 1;
  MPI_Comm pairs;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, receives, &from, MPI_UNWEIGHTED, !receives, &to,
                                 MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &pairs);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int sizes[2] = {2, 3}, periodic[2] = {0, 1};
  MPI_Comm grid, again;
  MPI_Cart_create(MPI_COMM_WORLD, 2, sizes, periodic, 0, &grid);
  MPI_Cart_create(MPI_COMM_WORLD, 2, sizes, periodic, 0, &again);
  int right, left, got = 0, rank;
  MPI_Comm_rank(grid, &rank);
  make_ring(reversed(rank));
  make_star(rank);
  make_pairs(rank);
  MPI_Cart_shift(grid, 1, 1, &left, &right);
  if (rank == 4) stir();
  MPI_Sendrecv(&rank, 1, MPI_INT, right, 0, &got, 1, MPI_INT, left, 0, grid, MPI_STATUS_IGNORE);
  MPI_Barrier(again);
  MPI_Finalize();
  return got != left;
}
