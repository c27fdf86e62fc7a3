// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A token that goes around: each rank receives it, works, and sends it on. One iteration is one
// traversal, in which one rank works at a time.
#include "loop.h"

static void traverse(const struct parameters* p, int rank, int size, char* in, char* out) {
  const int from = (rank + size - 1) % size, to = (rank + 1) % size;
  if (rank > 0) {
    MPI_Recv(in, p->bytes, MPI_CHAR, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  compute(p, rank);
  MPI_Send(out, p->bytes, MPI_CHAR, to, 1, MPI_COMM_WORLD);
  if (rank == 0) {
    MPI_Recv(in, p->bytes, MPI_CHAR, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const struct parameters p = read_parameters();
  time_loop(&p, traverse);
  MPI_Finalize();
  return 0;
}
