/* SPDX-FileCopyrightText: The culprit authors
   SPDX-License-Identifier: Apache-2.0

   One call of each family, in an order that leaves nothing to chance: whoever watches sees the same
   on every run. core.F90 makes the same calls in the same order, so the records must be the same.
   Wants 3 processes. */
#include <mpi.h>

static int rank, size, next, prev;

static void blocking(void) {
  int ints[8] = {0};
  double doubles[4] = {0};
  MPI_Status status;
  if (rank == 0) MPI_Send(ints, 3, MPI_INT, 1, 11, MPI_COMM_WORLD);
  if (rank == 1)
    MPI_Recv(ints, 8, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Send(ints, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD);
  MPI_Recv(ints, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &status);
  MPI_Sendrecv(doubles, 2, MPI_DOUBLE, next, 12, doubles + 2, 2, MPI_DOUBLE, prev, 12,
               MPI_COMM_WORLD, &status);
  if (rank == 2) MPI_Ssend(ints, 2, MPI_INT, 0, 13, MPI_COMM_WORLD);
  if (rank == 0) {
    MPI_Probe(2, 13, MPI_COMM_WORLD, &status);
    MPI_Recv(ints, 8, MPI_INT, status.MPI_SOURCE, status.MPI_TAG, MPI_COMM_WORLD, &status);
  }
  if (rank == 1) MPI_Send(ints, 4, MPI_INT, 2, 14, MPI_COMM_WORLD);
  if (rank == 2) {
    MPI_Message message;
    MPI_Mprobe(1, MPI_ANY_TAG, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
    MPI_Mrecv(ints, 8, MPI_INT, &message, MPI_STATUS_IGNORE);
  }
}

static void post(int tag, int count, MPI_Request* requests, int* in, int* out) {
  MPI_Irecv(in, 8, MPI_INT, prev, tag, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(out, count, MPI_INT, next, tag, MPI_COMM_WORLD, &requests[1]);
}

static void nonblocking(void) {
  int in[8], out[8] = {0}, index, flag, count, indices[2];
  MPI_Request requests[2];
  MPI_Status statuses[2];
  post(21, 1, requests, in, out);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  post(22, 2, requests, in, out);
  MPI_Wait(&requests[0], &statuses[0]);
  MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
  MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
  post(23, 3, requests, in, out);
  MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
  MPI_Waitsome(2, requests, &count, indices, MPI_STATUSES_IGNORE);
  post(24, 4, requests, in, out);
  do MPI_Testall(2, requests, &flag, statuses);
  while (!flag);
  post(25, 5, requests, in, out);
  do MPI_Test(&requests[0], &flag, MPI_STATUS_IGNORE);
  while (!flag);
  do MPI_Testany(2, requests, &index, &flag, &statuses[0]);
  while (!flag);
  post(26, 6, requests, in, out);
  MPI_Wait(&requests[1], &statuses[0]);
  do MPI_Testsome(2, requests, &count, indices, statuses);
  while (count == 0);
  MPI_Irecv(in, 8, MPI_INT, MPI_PROC_NULL, 27, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(out, 1, MPI_INT, MPI_PROC_NULL, 27, MPI_COMM_WORLD, &requests[1]);
  MPI_Waitall(2, requests, statuses);
}

static void persistent(void) {
  int in[8], out[8] = {0};
  MPI_Request requests[2];
  MPI_Recv_init(in, 8, MPI_INT, prev, 31, MPI_COMM_WORLD, &requests[0]);
  MPI_Send_init(out, 2, MPI_INT, next, 31, MPI_COMM_WORLD, &requests[1]);
  for (int i = 0; i < 2; ++i) {
    MPI_Startall(2, requests);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  }
  MPI_Start(&requests[0]);
  MPI_Start(&requests[1]);
  MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  MPI_Request_free(&requests[0]);
  MPI_Request_free(&requests[1]);
}

static void rooted(void) {
  int in[16], out[16] = {0}, counts[3] = {1, 2, 3}, places[3] = {0, 1, 3};
  MPI_Bcast(out, 4, MPI_INT, 1, MPI_COMM_WORLD);
  MPI_Reduce(out, in, 2, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  MPI_Reduce(rank == 2 ? MPI_IN_PLACE : out, in, 2, MPI_INT, MPI_SUM, 2, MPI_COMM_WORLD);
  MPI_Gather(out, 1, MPI_INT, in, 1, MPI_INT, 2, MPI_COMM_WORLD);
  MPI_Gatherv(out, rank + 1, MPI_INT, in, counts, places, MPI_INT, 0, MPI_COMM_WORLD);
  MPI_Scatter(out, 2, MPI_INT, rank == 0 ? MPI_IN_PLACE : in, 2, MPI_INT, 0, MPI_COMM_WORLD);
  MPI_Scatterv(out, counts, places, MPI_INT, in, rank + 1, MPI_INT, 1, MPI_COMM_WORLD);
}

static void unrooted(void) {
  int in[16], out[16] = {0}, counts[3] = {1, 2, 3}, places[3] = {0, 1, 3};
  int mine[3] = {rank + 1, rank + 1, rank + 1}, steps[3] = {0, 4, 8};
  double value = 1;
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Allreduce(out, in, 3, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  MPI_Allgather(out, 2, MPI_INT, in, 2, MPI_INT, MPI_COMM_WORLD);
  MPI_Allgatherv(out, rank + 1, MPI_INT, in, counts, places, MPI_INT, MPI_COMM_WORLD);
  MPI_Alltoall(out, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_WORLD);
  MPI_Alltoallv(out, counts, places, MPI_INT, in, mine, steps, MPI_INT, MPI_COMM_WORLD);
  MPI_Reduce_scatter(out, in, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Reduce_scatter_block(out, in, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Scan(out, in, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Exscan(out, in, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

static void later(void) {
  int in[4], out[4] = {0};
  MPI_Request request;
  MPI_Ibarrier(MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Iallreduce(out, in, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Ibcast(out, 2, MPI_INT, 2, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void communicators(void) {
  int in[4], out[4] = {0}, dims[1] = {3}, periods[1] = {1}, keep[1] = {1}, colour;
  MPI_Comm half, copy, cart, sub;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
  MPI_Allreduce(out, in, 1, MPI_INT, MPI_SUM, half);
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  if (rank == 0) MPI_Send(out, 1, MPI_INT, 1, 41, copy);
  if (rank == 1) MPI_Recv(in, 1, MPI_INT, 0, 41, copy, MPI_STATUS_IGNORE);
  MPI_Cart_create(copy, 1, dims, periods, 0, &cart);
  MPI_Cart_sub(cart, keep, &sub);
  MPI_Neighbor_allgather(out, 1, MPI_INT, in, 1, MPI_INT, cart);
  MPI_Comm_free(&sub);
  MPI_Comm_free(&cart);
  MPI_Comm_free(&copy);
  MPI_Comm_free(&half);
  colour = rank == 1 ? MPI_UNDEFINED : 0;
  MPI_Comm_split(MPI_COMM_WORLD, colour, rank, &half);
  if (rank != 1) MPI_Barrier(half);
  if (rank != 1) MPI_Comm_free(&half);
  MPI_Barrier(MPI_COMM_SELF);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  next = (rank + 1) % size;
  prev = (rank + size - 1) % size;
  blocking();
  nonblocking();
  persistent();
  rooted();
  unrooted();
  later();
  communicators();
  MPI_Finalize();
  return 0;
}
