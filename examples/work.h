/* SPDX-FileCopyrightText: The culprit authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Work of a known length, for examples whose answer is known by construction. The length is
 * wall-clock time, not a count of operations: a busy machine does fewer operations in it, and the
 * answer stays. It is a macro, so that the work is that of the function which asks for it. */
#ifndef CULPRIT_EXAMPLES_WORK_H
#define CULPRIT_EXAMPLES_WORK_H

#include <time.h>

/* What a profile should name must be a function of its own. */
#define KERNEL static __attribute__((noinline))

/* Computes for `ms` milliseconds. Looks at the clock every few microseconds only. */
#define WORK_MS(ms)                                                        \
  do {                                                                     \
    struct timespec now_, end_;                                            \
    clock_gettime(CLOCK_MONOTONIC, &end_);                                 \
    end_.tv_nsec += (ms) * 1000000L;                                       \
    end_.tv_sec += end_.tv_nsec / 1000000000L;                             \
    end_.tv_nsec %= 1000000000L;                                           \
    volatile double kept_ = 1.0;                                           \
    do {                                                                   \
      double x_ = kept_;                                                   \
      for (int i_ = 0; i_ < 4000; ++i_) x_ = x_ * 0.999999 + 1e-6;         \
      kept_ = x_;                                                          \
      clock_gettime(CLOCK_MONOTONIC, &now_);                               \
    } while (now_.tv_sec < end_.tv_sec ||                                  \
             (now_.tv_sec == end_.tv_sec && now_.tv_nsec < end_.tv_nsec)); \
  } while (0)

#endif
