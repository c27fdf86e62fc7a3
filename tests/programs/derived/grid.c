// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Six ranks as a grid of 2 x 3, which is periodic in its second dimension; made twice.
#include <mpi.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int sizes[2] = {2, 3}, periodic[2] = {0, 1};
  MPI_Comm grid, again;
  MPI_Cart_create(MPI_COMM_WORLD, 2, sizes, periodic, 0, &grid);
  MPI_Cart_create(MPI_COMM_WORLD, 2, sizes, periodic, 0, &again);
  int right, left, got = 0, rank;
  MPI_Comm_rank(grid, &rank);
  MPI_Cart_shift(grid, 1, 1, &left, &right);
  MPI_Sendrecv(&rank, 1, MPI_INT, right, 0, &got, 1, MPI_INT, left, 0, grid, MPI_STATUS_IGNORE);
  MPI_Barrier(again);
  MPI_Finalize();
  return got != left;
}
