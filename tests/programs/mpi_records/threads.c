/* SPDX-FileCopyrightText: The culprit authors
   SPDX-License-Identifier: Apache-2.0

   Four threads of each of two processes exchange 200 messages each with their like, with requests
   of which handles are reused all the time. Each thread has a tag of its own; with the argument
   "same" all share one. */
#include <mpi.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>

enum { kThreads = 4, kMessages = 200, kAtOnce = 4 };
static int rank, same;

static void* exchange(void* number) {
  const int tag = same ? 0 : (int)(intptr_t)number;
  int in[kAtOnce], out[kAtOnce] = {0};
  for (int i = 0; i < kMessages; i += kAtOnce) {
    MPI_Request requests[2 * kAtOnce];
    for (int k = 0; k < kAtOnce; ++k) {
      MPI_Irecv(&in[k], 1, MPI_INT, 1 - rank, tag, MPI_COMM_WORLD, &requests[k]);
    }
    for (int k = 0; k < kAtOnce; ++k) {
      MPI_Isend(&out[k], 1, MPI_INT, 1 - rank, tag, MPI_COMM_WORLD, &requests[kAtOnce + k]);
    }
    MPI_Waitall(2 * kAtOnce, requests, MPI_STATUSES_IGNORE);
  }
  return NULL;
}

int main(int argc, char** argv) {
  int provided;
  pthread_t threads[kThreads];
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  if (provided != MPI_THREAD_MULTIPLE) MPI_Abort(MPI_COMM_WORLD, 3);
  same = argc > 1 && strcmp(argv[1], "same") == 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (intptr_t i = 0; i < kThreads; ++i) pthread_create(&threads[i], NULL, exchange, (void*)i);
  for (int i = 0; i < kThreads; ++i) pthread_join(threads[i], NULL);
  MPI_Finalize();
  return 0;
}
