/* SPDX-FileCopyrightText: The culprit authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Work of a known length, for examples whose answer is known by construction. The length is
 * wall-clock time, not a count of operations: a busy machine does fewer operations in it, and the
 * answer stays. It is inlined, so that a profile shows the function that asked for the work. */
#ifndef CULPRIT_EXAMPLES_WORK_H
#define CULPRIT_EXAMPLES_WORK_H

#include <time.h>

/* What a profile should name must be a function of its own. */
#define KERNEL static __attribute__((noinline))

static inline __attribute__((always_inline)) double work_clock_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

/* Computes for `ms` milliseconds. Looks at the clock every few microseconds only. */
static inline __attribute__((always_inline)) void work_ms(double ms) {
  const double end = work_clock_ms() + ms;
  volatile double kept = 1.0;
  do {
    double x = kept;
    for (int i = 0; i < 4000; ++i) x = x * 0.999999 + 1e-6;
    kept = x;
  } while (work_clock_ms() < end);
}

#endif
