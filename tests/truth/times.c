// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0
//
// Four ranks that meet at a barrier in each step. Somebody is late once, now and then, more and
// more, from some step on, or in turn: the costs are those of any imbalance, but the verdict is to
// say when, or that it moves.
#include "truth.h"

TAKES_TIME(advect)
TAKES_TIME(late)

static int is(const char* name, const char* other) {
  return strcmp(name, other) == 0;
}

/// Steps that follow each other get numbers that do not: a product alone would go round and round.
static unsigned scattered(unsigned step) {
  unsigned x = step + 1;
  x = (x ^ x >> 16) * 0x85ebca6bu;
  x = (x ^ x >> 13) * 0xc2b2ae35u;
  return x ^ x >> 16;
}

/// How late this rank is in a step; 0: not at all.
static double lateness(const char* name, int step) {
  const int one = rank == 1;
  if (is(name, "once")) return one && step == truth_rounds * 6 / 10 ? truth_ms : 0;
  if (is(name, "every_tenth")) return one && step % 10 == 7 ? truth_ms : 0;
  if (is(name, "every_fourth")) return one && step % 4 == 1 ? truth_ms : 0;
  if (is(name, "drift")) return one ? truth_ms * step / truth_rounds : 0;
  if (is(name, "from")) return one && step >= truth_rounds * 6 / 10 ? truth_ms : 0;
  if (is(name, "until")) return one && step < truth_rounds * 4 / 10 ? truth_ms : 0;
  if (is(name, "steady")) return one ? truth_ms : 0;
  if (is(name, "moves")) return rank == step * size / truth_rounds ? truth_ms : 0;
  if (is(name, "turns")) return rank == step % size ? truth_ms : 0;
  if (is(name, "random")) return rank == (int)(scattered(step) % (unsigned)size) ? truth_ms : 0;
  // All but the first have the same work.
  if (is(name, "together")) return rank > 0 ? truth_ms : 0;
  return 0;
}

static const char* choice;

static void run(void) {
  ROUNDS {
    advect(1);
    const double ms = lateness(choice, round);
    if (ms > 0) late(ms);
    TIMED(MPI_Barrier(MPI_COMM_WORLD));
  }
}

// All cases are one loop.
static const struct truth_case cases[] = {
    {"once", run},  {"every_tenth", run}, {"every_fourth", run}, {"drift", run},
    {"from", run},  {"until", run},       {"steady", run},       {"moves", run},
    {"turns", run}, {"random", run},      {"together", run},
};

int main(int argc, char** argv) {
  choice = argc > 1 ? argv[1] : "";
  return truth_mpi_main(argc, argv, cases, (int)(sizeof cases / sizeof *cases));
}
