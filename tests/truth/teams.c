// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0
//
// OpenMP without MPI: barriers, loops, locks, tasks, nested teams. Thread 1 is the late one where
// the schedule does not decide.
#define TRUTH_NO_MPI
#include "truth.h"

#include <omp.h>

#define THREADS 3

TAKES_TIME(late)
TAKES_TIME(compute)
TAKES_TIME(hold_lock)
TAKES_TIME(long_item)
TAKES_TIME(short_item)
TAKES_TIME(serial_part)
TAKES_TIME(load_mesh)

static int me(void) {
  return omp_get_thread_num();
}

static void barrier(void) {
#pragma omp parallel num_threads(THREADS)
  ROUNDS {
    if (me() == 1) late(truth_ms);
    TIMED(_Pragma("omp barrier"));
  }
}

static void fork_join(void) {
  ROUNDS {
    long end[THREADS];
#pragma omp parallel num_threads(THREADS)
    {
      if (me() == 1) late(truth_ms);
      end[me()] = truth_now();
    }
    for (int i = 0; i < THREADS; ++i) truth_waited_ns += end[1] - end[i];
  }
}

static void loop_static(void) {
#pragma omp parallel num_threads(THREADS)
  ROUNDS {
#pragma omp for schedule(static) nowait
    for (int i = 0; i < THREADS; ++i) {
      if (i == 1) long_item(truth_ms);
    }
    TIMED(_Pragma("omp barrier"));
  }
}

// One item is as long as all others together and is given out last.
static void loop_dynamic(void) {
#pragma omp parallel num_threads(THREADS)
  ROUNDS {
#pragma omp for schedule(dynamic) nowait
    for (int i = 0; i < 4 * THREADS + 1; ++i) {
      if (i == 4 * THREADS) {
        long_item(truth_ms);
      } else {
        short_item(truth_ms / 8);
      }
    }
    TIMED(_Pragma("omp barrier"));
  }
}

static void single(void) {
#pragma omp parallel num_threads(THREADS)
  ROUNDS {
#pragma omp single nowait
    late(truth_ms);
    TIMED(_Pragma("omp barrier"));
  }
}

static void masked(void) {
#pragma omp parallel num_threads(THREADS)
  ROUNDS {
#pragma omp master
    late(truth_ms);
    TIMED(_Pragma("omp barrier"));
  }
}

static void sections(void) {
#pragma omp parallel num_threads(THREADS)
  ROUNDS {
#pragma omp sections nowait
    {
#pragma omp section
      short_item(truth_ms / 10);
#pragma omp section
      long_item(truth_ms);
#pragma omp section
      short_item(truth_ms / 10);
    }
    TIMED(_Pragma("omp barrier"));
  }
}

// Thread 1 takes the lock first and keeps it; thread 0 wants it. Should thread 0 be first, it waits
// at the barrier.
static void critical(void) {
#pragma omp parallel num_threads(2)
  ROUNDS {
    if (me() == 1) {
#pragma omp critical(shared)
      hold_lock(truth_ms);
    } else {
      usleep(3000);
      const long begin = truth_now();
#pragma omp critical(shared)
      truth_waited_ns += truth_now() - begin;
    }
    TIMED(_Pragma("omp barrier"));
  }
}

static void lock(void) {
  omp_lock_t shared;
  omp_init_lock(&shared);
#pragma omp parallel num_threads(2)
  ROUNDS {
    if (me() == 1) {
      omp_set_lock(&shared);
      hold_lock(truth_ms);
      omp_unset_lock(&shared);
    } else {
      usleep(3000);
      TIMED(omp_set_lock(&shared));
      omp_unset_lock(&shared);
    }
    TIMED(_Pragma("omp barrier"));
  }
  omp_destroy_lock(&shared);
}

// All threads wait for the one long task at the barrier.
static void task(void) {
#pragma omp parallel num_threads(THREADS)
  ROUNDS {
#pragma omp single nowait
    {
      for (int i = 0; i < THREADS - 1; ++i) {
#pragma omp task
        short_item(truth_ms / 100);
      }
#pragma omp task
      long_item(truth_ms);
    }
#pragma omp barrier
  }
}

static void taskloop(void) {
#pragma omp parallel num_threads(THREADS)
  ROUNDS {
#pragma omp single
#pragma omp taskloop grainsize(1)
    for (int i = 0; i < THREADS; ++i) {
      if (i == 1) {
        long_item(truth_ms);
      } else {
        short_item(truth_ms / 100);
      }
    }
  }
}

// The second waits for what the first writes.
static void depend(void) {
  int data = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
  ROUNDS {
#pragma omp task depend(out : data) shared(data)
    {
      long_item(truth_ms);
      data = round;
    }
#pragma omp task depend(in : data) shared(data)
    short_item(data >= 0 ? truth_ms / 10 : 0);
#pragma omp taskwait
  }
}

// Two teams of two inside a team of two; one inner thread is late for all.
static void nested(void) {
  omp_set_max_active_levels(2);
  ROUNDS {
#pragma omp parallel num_threads(2)
    {
      const int outer = me();
#pragma omp parallel num_threads(2)
      if (outer == 1 && me() == 1) late(truth_ms);
    }
  }
}

static void serial_master(void) {
  ROUNDS {
    serial_part(truth_ms);
#pragma omp parallel num_threads(THREADS)
    compute(truth_ms / 8);
  }
}

static void two_causes(void) {
#pragma omp parallel num_threads(THREADS)
  ROUNDS {
    if (me() == 1) long_item(2 * truth_ms);
    TIMED(_Pragma("omp barrier"));
    if (me() == 2) short_item(truth_ms);
    TIMED(_Pragma("omp barrier"));
  }
}

// Before OpenMP is ever called.
static void slow_start(void) {
  load_mesh(truth_ms);
#pragma omp parallel num_threads(THREADS)
  ROUNDS {
    compute(20);
#pragma omp barrier
  }
}

static void balanced(void) {
#pragma omp parallel num_threads(THREADS)
  ROUNDS {
    compute(truth_ms);
    TIMED(_Pragma("omp barrier"));
  }
}

static const struct truth_case cases[] = {
    {"barrier", barrier},
    {"fork_join", fork_join},
    {"loop_static", loop_static},
    {"loop_dynamic", loop_dynamic},
    {"single", single},
    {"masked", masked},
    {"sections", sections},
    {"critical", critical},
    {"lock", lock},
    {"task", task},
    {"taskloop", taskloop},
    {"depend", depend},
    {"nested", nested},
    {"serial_master", serial_master},
    {"two_causes", two_causes},
    {"slow_start", slow_start},
    {"balanced", balanced},
};

int main(int argc, char** argv) {
  void (*run)(void) = truth_choose(argc, argv, cases, (int)(sizeof cases / sizeof cases[0]));
  run();
  truth_write_account();
  return 0;
}
