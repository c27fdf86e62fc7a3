/* SPDX-FileCopyrightText: The culprit authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * For programs that time calls or constructs: under callgrind the instructions of each are written
 * down as well (against.py reads them), and there are fewer rounds then (BENCH_SHARE). Without
 * valgrind's header, and whenever no callgrind runs, this does nothing. */
#ifndef CULPRIT_TESTS_BENCH_COUNTED_H
#define CULPRIT_TESTS_BENCH_COUNTED_H

#include <stdlib.h>

#if defined(__has_include)
#if __has_include(<valgrind/callgrind.h>)
#include <valgrind/callgrind.h>
#endif
#endif
#ifndef CALLGRIND_ZERO_STATS
#define CALLGRIND_ZERO_STATS
#define CALLGRIND_DUMP_STATS_AT(name) (void)(name)
#endif

/* How many rounds there are, of so many when times are taken. */
static inline int rounds_of(int wanted) {
  const char* share = getenv("BENCH_SHARE");
  const int rounds = share != NULL ? wanted / atoi(share) : wanted;
  return rounds > 0 ? rounds : 1;
}

#endif
