/* SPDX-FileCopyrightText: The culprit authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * For programs made outside: injected_delay() makes rank $TRUTH_LATE_RANK of MPI_COMM_WORLD late by
 * $TRUTH_LATE_MS milliseconds each time, and keeps an account as truth.h does. With TRUTH_REGIONS=1
 * it is a region that the program names itself, so that no sampling is needed to see it. C99 and
 * C++. */
#ifndef TRUTH_LATE_H
#define TRUTH_LATE_H

#ifndef _DEFAULT_SOURCE
#define _DEFAULT_SOURCE
#endif
#include <culprit.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <unistd.h>

static struct {
  int ready, rank, late, regions;
  double ms, asked_s, spent_s;
} truth_late_;

static inline double truth_late_now_(void) {
  struct timeval t;
  gettimeofday(&t, NULL);
  return (double)t.tv_sec + (double)t.tv_usec * 1e-6;
}

static inline void truth_late_account_(void) {
  char path[4096];
  const char* prefix = getenv("TRUTH_ACCOUNT");
  if (prefix == NULL) return;
  snprintf(path, sizeof path, "%s.%d", prefix, truth_late_.rank);
  FILE* file = fopen(path, "w");
  if (file == NULL) return;
  fprintf(file,
          "{\"rank\": %d, \"asked_s\": %.9f, \"waited_s\": 0, \"spent_s\": {\"injected_delay\": "
          "%.9f}}\n",
          truth_late_.rank, truth_late_.asked_s, truth_late_.spent_s);
  fclose(file);
}

static inline void truth_late_begin_(void) {
  const char* late = getenv("TRUTH_LATE_RANK");
  const char* ms = getenv("TRUTH_LATE_MS");
  const char* regions = getenv("TRUTH_REGIONS");
  truth_late_.ready = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &truth_late_.rank);
  truth_late_.late = late != NULL && atoi(late) == truth_late_.rank;
  truth_late_.ms = ms != NULL ? atof(ms) : 0;
  truth_late_.regions = regions != NULL && atoi(regions) != 0;
  atexit(truth_late_account_);
}

static __attribute__((noinline, unused)) void injected_delay(void) {
  if (!truth_late_.ready) truth_late_begin_();
  if (!truth_late_.late) return;
  const double begin = truth_late_now_();
  if (truth_late_.regions) culprit_region_begin("injected_delay");
  usleep((useconds_t)(truth_late_.ms * 1000));
  if (truth_late_.regions) culprit_region_end("injected_delay");
  truth_late_.spent_s += truth_late_now_() - begin;
  truth_late_.asked_s += truth_late_.ms * 1e-3 + 1e-4;
}

#endif
