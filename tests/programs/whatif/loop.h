// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What the programs here share: parameters from the environment; work that needs no core, so that
// ranks that share one do not disturb each other; and the time that the loop took, from barrier to
// barrier, which each program prints.
#pragma once

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct parameters {
  int work_us;         // WORK_US: of each rank in each iteration
  int iterations;      // ITERATIONS
  int bytes;           // BYTES: of each message
  int slow_rank;       // SLOW_RANK: -1: none
  double slow_factor;  // SLOW_FACTOR: its work is that much longer
};

static double number(const char* name, double otherwise) {
  const char* text = getenv(name);
  return text && *text ? atof(text) : otherwise;
}

static struct parameters read_parameters(void) {
  struct parameters p;
  p.work_us = (int)number("WORK_US", 10000);
  p.iterations = (int)number("ITERATIONS", 100);
  p.bytes = (int)number("BYTES", 1024);
  p.slow_rank = (int)number("SLOW_RANK", -1);
  p.slow_factor = number("SLOW_FACTOR", 2);
  return p;
}

static void compute(const struct parameters* p, int rank) {
  usleep((useconds_t)(p->work_us * (rank == p->slow_rank ? p->slow_factor : 1)));
}

// Calls `iterate` for each iteration and prints how long all of them took.
static void time_loop(const struct parameters* p,
                      void (*iterate)(const struct parameters*, int rank, int size, char* in,
                                      char* out)) {
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  char* in = calloc(2, (size_t)p->bytes + 8);
  char* out = calloc(2, (size_t)p->bytes + 8);
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  for (int i = 0; i < p->iterations; ++i) iterate(p, rank, size, in, out);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) printf("loop %.6f s\n", MPI_Wtime() - begin);
  free(in);
  free(out);
}
