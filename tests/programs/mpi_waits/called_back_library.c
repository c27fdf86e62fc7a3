// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0
//
// The library of called_back.c: it has an operation, and calls nothing else of MPI.
#include <mpi.h>
#include <time.h>

static volatile double sink;

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

__attribute__((noinline)) static void late_work(void) {
  for (const double end = now() + 0.1; now() < end;) {
    for (int i = 0; i < 1000; i++) sink += i;
  }
}

static void add_in_library(void* in, void* to, int* count, MPI_Datatype* type) {
  (void)type;
  for (int i = 0; i < *count; i++) ((int*)to)[i] += ((int*)in)[i];
  late_work();
  sink += 1;
}

MPI_Op make(void);
MPI_Op make(void) {
  MPI_Op add;
  MPI_Op_create(add_in_library, 1, &add);
  return add;
}
