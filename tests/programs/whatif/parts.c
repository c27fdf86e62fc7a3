/* SPDX-FileCopyrightText: The culprit authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * A hybrid program of parts that can each be made longer or shorter from outside, so that a
 * prediction can be held against a run: 2 ranks of 2 threads, work is sleep, so it needs no cores.
 * F_<part> is a factor on what a part takes, ON_RANK and ON_THREAD say where it holds (everywhere).
 *
 *   start_up    once: 200 ms on rank 0, 100 ms on rank 1, then a barrier
 *   compute     the masters: 40 ms on rank 0, 20 ms on rank 1
 *   resolve     a parallel region: 20 ms on each thread, 40 ms on rank 0's thread 1
 *   update      4 ms of each thread in a critical construct
 *   exchange    BYTES from each to the other
 *   write_log   rank 1, after what the other waits for: 10 ms; nobody waits for it */
#include <mpi.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

enum { kSteps = 25 };

static int rank;

static int fits(const char* name, int mine) {
  const char* wanted = getenv(name);
  return wanted == NULL || atoi(wanted) == mine;
}

/* In milliseconds. */
static double takes(const char* part, double ms) {
  const char* factor = getenv(part);
  if (factor == NULL || !fits("ON_RANK", rank) || !fits("ON_THREAD", omp_get_thread_num()))
    return ms;
  return ms * atof(factor);
}

static void sleep_ms(double ms) {
  if (ms <= 0) return;
  struct timespec time = {(time_t)(ms / 1e3), (long)((ms - 1e3 * (long)(ms / 1e3)) * 1e6)};
  nanosleep(&time, NULL);
}

#define PART __attribute__((noinline)) static double

PART start_up(void) {
  sleep_ms(takes("F_start_up", rank == 0 ? 200 : 100));
  return 1;
}
PART compute(void) {
  sleep_ms(takes("F_compute", rank == 0 ? 40 : 20));
  return 1;
}
PART resolve(void) {
  sleep_ms(takes("F_resolve", rank == 0 && omp_get_thread_num() == 1 ? 40 : 20));
  return 1;
}
PART update(void) {
  sleep_ms(takes("F_update", 4));
  return 1;
}
PART write_log(void) {
  sleep_ms(takes("F_write_log", rank == 1 ? 10 : 0));
  return 1;
}

PART advance(void) {
  double sum = 0;
#pragma omp parallel num_threads(2) reduction(+ : sum)
  {
    sum += resolve();
#pragma omp critical
    sum += update();
  }
  return sum;
}

PART exchange(char* in, char* out, int bytes) {
  MPI_Sendrecv(out, bytes, MPI_CHAR, 1 - rank, 0, in, bytes, MPI_CHAR, 1 - rank, 0, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  return in[0];
}

int main(int argc, char** argv) {
  int provided;
  prctl(PR_SET_TIMERSLACK, 1); /* or each sleep takes 50 us more, of any length */
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const char* size = getenv("BYTES");
  const int bytes = size == NULL ? 8 : atoi(size);
  char *in = malloc(bytes), *out = malloc(bytes);
  memset(out, 1, bytes);
  double sum = start_up();
  MPI_Barrier(MPI_COMM_WORLD);
  for (int step = 0; step < kSteps; ++step) {
    sum += compute();
    sum += advance();
    sum += exchange(in, out, bytes);
    sum += write_log();
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  free(in);
  free(out);
  return sum < 0;
}
