/* SPDX-FileCopyrightText: The culprit authors
   SPDX-License-Identifier: Apache-2.0

   Page faults that can be foretold: touch_some and touch_many write once into each page of fresh
   memory that has small pages only, 1000 and 8000 of them, before a barrier each. Then, in a
   parallel region of two threads, each writes into 2000 more. Rank 1 does nothing of it. */
#include <mpi.h>
#include <stdio.h>
#include <sys/mman.h>

enum { kPage = 4096 };

static void touch(long pages) {
  const size_t bytes = (size_t)pages * kPage;
  char* memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return;
  madvise(memory, bytes, MADV_NOHUGEPAGE);
  for (long i = 0; i < pages; ++i) ((volatile char*)memory)[i * kPage] = 1;
  munmap(memory, bytes);
}

static void touch_some(void) {
  touch(1000);
  MPI_Barrier(MPI_COMM_WORLD);
}

static void touch_many(int rank) {
  if (rank == 0) touch(8000);
  MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
  int rank = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  touch_some();
  touch_many(rank);
  if (rank == 0) {
#pragma omp parallel num_threads(2)
    touch(2000);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) puts("counted: done");
  MPI_Finalize();
  return 0;
}
