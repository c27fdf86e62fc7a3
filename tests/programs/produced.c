/* SPDX-FileCopyrightText: The culprit authors
   SPDX-License-Identifier: Apache-2.0

   Counts for itself what it produces, by PAPI's software-defined events: 42 items from the start to
   the first barrier, 1000 from there to the second, three times as many on rank 1. Both barriers
   lie in produce, but in two calls of it, between which main might have counted, too. */
#include <mpi.h>
#include <sde_lib.h>
#include <stdio.h>

static long long items;

__attribute__((noinline)) static void produce(long long count) {
  items += count;
  MPI_Barrier(MPI_COMM_WORLD);
  __asm__ volatile("");  // after it, so that the barrier is called from here and not jumped to
}

int main(int argc, char** argv) {
  int rank = 0;
  const papi_handle_t handle = papi_sde_init("produced");
  papi_sde_register_counter(handle, "items", PAPI_SDE_RO | PAPI_SDE_DELTA, PAPI_SDE_long_long,
                            &items);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int factor = rank == 0 ? 1 : 3;
  produce(42 * factor);
  produce(1000 * factor);
  if (rank == 0) puts("produced: done");
  MPI_Finalize();
  return 0;
}
