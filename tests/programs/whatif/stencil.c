// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Halos along a periodic line: each rank posts receives and sends to both neighbours, works, and
// waits for all four.
#include "loop.h"

static void exchange(const struct parameters* p, int rank, int size, char* in, char* out) {
  const int left = (rank + size - 1) % size, right = (rank + 1) % size;
  MPI_Request requests[4];
  MPI_Irecv(in, p->bytes, MPI_CHAR, left, 1, MPI_COMM_WORLD, &requests[0]);
  MPI_Irecv(in + p->bytes, p->bytes, MPI_CHAR, right, 2, MPI_COMM_WORLD, &requests[1]);
  MPI_Isend(out, p->bytes, MPI_CHAR, right, 1, MPI_COMM_WORLD, &requests[2]);
  MPI_Isend(out + p->bytes, p->bytes, MPI_CHAR, left, 2, MPI_COMM_WORLD, &requests[3]);
  compute(p, rank);
  MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const struct parameters p = read_parameters();
  time_loop(&p, exchange);
  MPI_Finalize();
  return 0;
}
