// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0
//
// A program as collections of programs with mistakes have them, in which there is none.
/*
  BEGIN_MBI_TESTS
   $ mpirun -np 2 ${EXE}
   | OK
  END_MBI_TESTS
*/
#include <mpi.h>

int main(int argc, char** argv) {
  int rank = 0, sent = 7, received = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Sendrecv(&sent, 1, MPI_INT, 1 - rank, 0, &received, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  MPI_Finalize();
  return received != sent;
}
