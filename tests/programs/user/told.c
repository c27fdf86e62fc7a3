/* SPDX-FileCopyrightText: The culprit authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Tells culprit everything that culprit.h can say. 2 ranks, 4 iterations of one phase; in each rank
 * 0 works 20 ms longer and then sends what rank 1 waits for. `pcontrol` and `api` switch recording
 * off for iterations 1 and 2, each in its own way. `many` calls functions 280,000 times more,
 * `names` begins and ends 3,000 regions with a name each. */
#include <culprit.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#include "work.h"

enum { kSteps = 4, kOff = 1, kOn = 3 };

KERNEL double inner(double x) {
  return 0.5 * x + 1.0;
}

/* Calls itself `depth` times. */
KERNEL double deeper(double x, int depth) {
  return depth > 0 ? deeper(inner(x), depth - 1) + 1.0 : x;
}

KERNEL double prepare(double x) {
  WORK_MS(20);
  return x + 1.0;
}

static void record(const char* how, int on) {
  if (strcmp(how, "pcontrol") == 0) MPI_Pcontrol(on);
  if (strcmp(how, "api") == 0) on ? culprit_recording_on() : culprit_recording_off();
}

int main(int argc, char** argv) {
  const char* how = argc > 1 ? argv[1] : "";
  char name[8] = "";
  int rank, size;
  double x = 1.0;
  culprit_region_begin("before MPI");
  culprit_region_end("before MPI");
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Barrier(MPI_COMM_WORLD);
  if (strcmp(how, "") == 0) culprit_phase_begin("solve");
  for (int step = 0; step < kSteps; ++step) {
    if (step == kOff) record(how, 0);
    if (step == kOn) record(how, 1);
    culprit_iteration_begin("step", step);
    snprintf(name, sizeof name, "work"); /* a text that does not live long */
    culprit_region_begin(name);
    x = deeper(x, 3);
    if (rank == 0) x = prepare(x);
    culprit_region_end("work");
    if (rank == 0) MPI_Send(&x, 1, MPI_DOUBLE, 1, step, MPI_COMM_WORLD);
    if (rank == 1) MPI_Recv(&x, 1, MPI_DOUBLE, 0, step, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    culprit_iteration_end("step");
  }
  for (int i = 0; strcmp(how, "many") == 0 && i < 40000; ++i) x = deeper(x, 3);
  for (int i = 0; strcmp(how, "names") == 0 && i < 3000; ++i) {
    char pass[32] = "";
    snprintf(pass, sizeof pass, "pass %d", i);
    culprit_region_begin(pass);
    culprit_region_begin("within");
    culprit_region_end("within");
    culprit_region_end(pass);
  }
  if (strcmp(how, "") == 0) culprit_phase_end("solve");
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 1) printf("told: result %.3f\n", x);
  MPI_Finalize();
  return 0;
}
