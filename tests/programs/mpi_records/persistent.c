/* SPDX-FileCopyrightText: The culprit authors
   SPDX-License-Identifier: Apache-2.0

   Persistent buffered sends that are started again while the data of the last start is still on its
   way, which lets Open MPI go on under another handle: messages too long to be sent eagerly, which
   the receiver takes late. Wants 2 processes; ignores its arguments. */
#include <mpi.h>
#include <stdlib.h>

enum { kStarts = 100, kLength = 4096 };

static void wait_and_check(MPI_Request* request, const int* values, int wanted) {
  MPI_Wait(request, MPI_STATUS_IGNORE);
  if (values[0] != wanted || values[kLength - 1] != wanted) MPI_Abort(MPI_COMM_WORLD, 1);
}

static void send(void) {
  const int size = 2 * kStarts * ((int)sizeof(int) * kLength + MPI_BSEND_OVERHEAD);
  void* buffer = malloc((size_t)size);
  int values[kLength];
  MPI_Request request;
  MPI_Buffer_attach(buffer, size);
  MPI_Bsend_init(values, kLength, MPI_INT, 1, 7, MPI_COMM_WORLD, &request);
  for (int i = 0; i < 2 * kStarts; ++i) {
    values[0] = values[kLength - 1] = i;
    if (i < kStarts) {
      MPI_Start(&request);
    } else {
      MPI_Startall(1, &request);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Request_free(&request);
  int detached = 0;
  MPI_Buffer_detach(&buffer, &detached);
  free(buffer);
}

static void receive(void) {
  int values[kLength];
  MPI_Request request;
  MPI_Recv_init(values, kLength, MPI_INT, 0, 7, MPI_COMM_WORLD, &request);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < 2 * kStarts; ++i) {
    MPI_Start(&request);
    wait_and_check(&request, values, i);
  }
  MPI_Request_free(&request);
}

int main(int argc, char** argv) {
  int rank = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) {
    send();
  } else {
    receive();
  }
  MPI_Finalize();
  return 0;
}
