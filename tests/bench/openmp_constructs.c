/* SPDX-FileCopyrightText: The culprit authors
   SPDX-License-Identifier: Apache-2.0

   Times OpenMP constructs on one thread, where nobody waits, and prints nanoseconds of each: the
   best of several rounds. openmp_bench runs it with and without culprit. */
#include <omp.h>
#include <stdio.h>

#include "counted.h"

enum { kCount = 20000, kRounds = 10 };

static omp_lock_t g_lock;
static long g_sum;

static void lock_pairs(void) {
  for (int i = 0; i < kCount; ++i) {
    omp_set_lock(&g_lock);
    ++g_sum;
    omp_unset_lock(&g_lock);
  }
}

static void criticals(void) {
  for (int i = 0; i < kCount; ++i) {
#pragma omp critical
    ++g_sum;
  }
}

static void barriers(void) {
  for (int i = 0; i < kCount; ++i) {
#pragma omp barrier
  }
}

static void tasks(void) {
  for (int i = 0; i < kCount; ++i) {
#pragma omp task
    ++g_sum;
  }
#pragma omp taskwait
}

static void regions(void) {
  for (int i = 0; i < kCount; ++i) {
#pragma omp parallel num_threads(1)
    ++g_sum;
  }
}

/* `body` has kCount rounds. */
static double nanoseconds(const char* name, void (*body)(void)) {
  const double begin = omp_get_wtime();
  CALLGRIND_ZERO_STATS;
  body();
  CALLGRIND_DUMP_STATS_AT(name);
  return (omp_get_wtime() - begin) * 1e9 / kCount;
}

int main(void) {
  static const struct {
    const char* name;
    void (*body)(void);
    int in_team;
  } constructs[] = {{"barrier", barriers, 1},
                    {"lock_pair", lock_pairs, 1},
                    {"critical", criticals, 1},
                    {"task", tasks, 1},
                    {"parallel", regions, 0}};
  omp_init_lock(&g_lock);
  for (unsigned c = 0; c < sizeof constructs / sizeof constructs[0]; ++c) {
    double best = 1e30;
    for (int round = 0; round < rounds_of(kRounds); ++round) {
      double time = 0;
      if (constructs[c].in_team) {
#pragma omp parallel num_threads(1)
        time = nanoseconds(constructs[c].name, constructs[c].body);
      } else {
        time = nanoseconds(constructs[c].name, constructs[c].body);
      }
      if (time < best) best = time;
    }
    printf("%s %.1f\n", constructs[c].name, best);
  }
  omp_destroy_lock(&g_lock);
  return 0;
}
