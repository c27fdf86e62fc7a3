/* SPDX-FileCopyrightText: The culprit authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * For programs made outside: how often a loop is to be executed, so that it can be made shorter
 * from outside, on one rank or on all. REPEATS_<rank> of the environment, else REPEATS, else 1.
 * C99 and C++. */
#ifndef WHATIF_REPEATS_H
#define WHATIF_REPEATS_H

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static inline int repeats(void) {
  static int wanted = 0;
  if (wanted == 0) {
    int rank;
    char name[32];
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    snprintf(name, sizeof name, "REPEATS_%d", rank);
    const char* text = getenv(name);
    if (text == NULL) text = getenv("REPEATS");
    wanted = text != NULL ? atoi(text) : 1;
  }
  return wanted;
}

#endif
