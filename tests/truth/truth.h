// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0
//
// What the programs of the bench of truth share: causes that are injected, and an account of them.
// spend() makes the function that calls it late by a known time and writes down how long it really
// took; TIMED() does the same for calls that wait. Both are invisible to -finstrument-functions.
// The account goes to $TRUTH_ACCOUNT.<rank>, one JSON object a process. With TRUTH_WORK=1 time is
// spent computing, else sleeping. C11 and C++17. Programs without MPI define TRUTH_NO_MPI first.
#ifndef TRUTH_H
#define TRUTH_H

#ifndef TRUTH_NO_MPI
#include <mpi.h>
#endif
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

// What is quiet looks like a part of the function that calls it.
#define TRUTH_QUIET \
  __attribute__((no_instrument_function, always_inline, artificial, unused)) static inline
#ifdef __clang__
#define TRUTH_LOUD __attribute__((noinline))
#else
// Nor may functions of the same code become one.
#define TRUTH_LOUD __attribute__((noinline, noclone, no_icf))
#endif
#define TRUTH_FUNCTIONS 16

static int rank, size __attribute__((unused)) = 1;  // in MPI_COMM_WORLD
static double truth_ms = 100;                       // how late, from the command line
static int truth_rounds = 8;                        // how often
static int truth_works;                             // computes rather than sleeps
static long truth_begun_ns;                         // when the case began
static long truth_waited_ns;                        // in TIMED() calls, all threads of the process
static long
    truth_asked_ns;  // what spend() was asked for, plus what a quiet machine adds to a sleep
static struct {
  const char* name;
  long ns, calls;
} truth_spent[TRUTH_FUNCTIONS];

TRUTH_QUIET long truth_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000000L + t.tv_nsec;
}

TRUTH_QUIET void truth_charge(const char* name, long ns) {
  for (int i = 0; i < TRUTH_FUNCTIONS; ++i) {
    const char* free_slot = NULL;
    if (__atomic_compare_exchange_n(&truth_spent[i].name, &free_slot, name, 0, __ATOMIC_SEQ_CST,
                                    __ATOMIC_SEQ_CST) ||
        strcmp(free_slot, name) == 0) {
      __atomic_fetch_add(&truth_spent[i].ns, ns, __ATOMIC_RELAXED);
      __atomic_fetch_add(&truth_spent[i].calls, 1, __ATOMIC_RELAXED);
      return;
    }
  }
  abort();
}

// Spends `ms` milliseconds, rather more than less, in the function `name`, which calls it.
TRUTH_QUIET void spend(const char* name, double ms) {
  const long begin = truth_now();
  const long end = begin + (long)(ms * 1e6);
  if (truth_works) {
    double x = 1;
    while (truth_now() < end) {
      for (int i = 0; i < 2000; ++i) {
        x = x * 1.0000001 + 1e-9;
        __asm__ volatile("" : "+x"(x));
      }
    }
  } else {
    usleep((useconds_t)(ms * 1000));
  }
  truth_charge(name, truth_now() - begin);
  __atomic_fetch_add(&truth_asked_ns, end - begin + 100000, __ATOMIC_RELAXED);
  __asm__ volatile("" ::: "memory");  // no tail call: the function stays on the stack
}

// A function that takes the time which it is given.
#define TAKES_TIME(function)                   \
  TRUTH_LOUD static void function(double ms) { \
    spend(#function, ms);                      \
  }

#define TIMED(call)                                                                    \
  do {                                                                                 \
    const long truth_begin = truth_now();                                              \
    call;                                                                              \
    __atomic_fetch_add(&truth_waited_ns, truth_now() - truth_begin, __ATOMIC_RELAXED); \
  } while (0)

#define ROUNDS for (int round = 0; round < truth_rounds; ++round)

// In one write, for other threads may wait meanwhile.
TRUTH_QUIET void truth_write_account(void) {
  char path[4096], text[2048];
  const char* prefix = getenv("TRUTH_ACCOUNT");
  if (prefix == NULL) return;
  snprintf(path, sizeof path, "%s.%d", prefix, rank);
  size_t n = (size_t)snprintf(
      text, sizeof text,
      "{\"rank\": %d, \"lasted_s\": %.9f, \"asked_s\": %.9f, \"waited_s\": %.9f, \"spent_s\": {",
      rank, (double)(truth_now() - truth_begun_ns) * 1e-9, (double)truth_asked_ns * 1e-9,
      (double)truth_waited_ns * 1e-9);
  for (int i = 0; i < TRUTH_FUNCTIONS && truth_spent[i].name != NULL; ++i) {
    n += (size_t)snprintf(text + n, sizeof text - n, "%s\"%s\": %.9f", i > 0 ? ", " : "",
                          truth_spent[i].name, (double)truth_spent[i].ns * 1e-9);
  }
  n += (size_t)snprintf(text + n, sizeof text - n, "}}\n");
  const int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
  if (file < 0 || write(file, text, n) != (ssize_t)n) abort();
  close(file);
}

struct truth_case {
  const char* name;
  void (*run)(void);
};

// argv: case, milliseconds, rounds. Looks the case up; ends the program if there is none.
TRUTH_QUIET void (*truth_choose(int argc, char** argv, const struct truth_case* cases,
                                int count))(void) {
  if (argc > 2) truth_ms = atof(argv[2]);
  if (argc > 3) truth_rounds = atoi(argv[3]);
  truth_works = getenv("TRUTH_WORK") != NULL;
  truth_begun_ns = truth_now();
  for (int i = 0; argc > 1 && i < count; ++i) {
    if (strcmp(argv[1], cases[i].name) == 0) return cases[i].run;
  }
  fprintf(stderr, "usage: %s <case> [<milliseconds> [<rounds>]]\n", argv[0]);
  exit(2);
}

#ifndef TRUTH_NO_MPI
// A program of MPI that runs one case between two barriers.
TRUTH_QUIET int truth_mpi_main(int argc, char** argv, const struct truth_case* cases, int count) {
  void (*run)(void) = truth_choose(argc, argv, cases, count);
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Barrier(MPI_COMM_WORLD);
  truth_begun_ns = truth_now();
  run();
  TIMED(MPI_Barrier(MPI_COMM_WORLD));
  truth_write_account();
  MPI_Finalize();
  return 0;
}

#define TRUTH_MPI_MAIN(cases)                                                        \
  int main(int argc, char** argv) {                                                  \
    return truth_mpi_main(argc, argv, cases, (int)(sizeof cases / sizeof cases[0])); \
  }
#endif

#endif
