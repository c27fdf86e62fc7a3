// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0
//
// Programs of which it is known what a change would bring, since they can be run with it. Without
// TRUTH_CHANGE guilty() takes its time where the case has it; with "halved" half of it; with
// "spread" it is divided among all who could share it, or begins first where it cannot be divided.
// Threads are four (gains' own teams), ranks two. In each round others are done sooner.
#define _GNU_SOURCE
#include "truth.h"

#include <errno.h>
#include <omp.h>
#include <poll.h>
#include <pthread.h>
#include <sys/select.h>

TAKES_TIME(guilty)
TAKES_TIME(other)

static const MPI_Comm world = MPI_COMM_WORLD;
static int spread;     // the work is divided
static double factor;  // of guilty's time
static volatile int end;
static int wake[2];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

static void read_change(void) {
  const char* change = getenv("TRUTH_CHANGE");
  factor = change != NULL && strcmp(change, "halved") == 0 ? 0.5 : 1;
  spread = change != NULL && strcmp(change, "spread") == 0;
}

// Of one member of so many; `owner` has all of it, unless it is spread.
static void share(int member, int members, int owner) {
  if (spread) {
    guilty(truth_ms / members);
  } else if (member == owner) {
    guilty(factor * truth_ms);
  }
}

// --- helper threads, beside ranks that meet in barriers ------------------------------------------

static void rounds_of_ranks(void) {
  ROUNDS {
    share(rank, size, 1);
    TIMED(MPI_Barrier(world));
  }
}

static void beside(void* (*helper)(void*)) {
  pthread_t thread;
  pthread_create(&thread, NULL, helper, NULL);
  TIMED(MPI_Barrier(world));
  rounds_of_ranks();
  pthread_mutex_lock(&mutex);
  end = 1;
  pthread_cond_signal(&changed);
  pthread_mutex_unlock(&mutex);
  if (write(wake[1], "x", 1) != 1) abort();
  pthread_join(thread, NULL);
}

static void* naps(void* argument) {
  while (!end) usleep(20000);
  return argument;
}
static void* sleeps_precisely(void* argument) {
  const struct timespec while_ms = {0, 5000000};
  while (!end) nanosleep(&while_ms, NULL);
  return argument;
}
static void* polls(void* argument) {
  struct pollfd one = {wake[0], POLLIN, 0};
  poll(&one, 1, -1);
  return argument;
}
static void* polls_in_slices(void* argument) {
  struct pollfd one = {wake[0], POLLIN, 0};
  while (poll(&one, 1, 10) == 0) continue;
  return argument;
}
static void* selects(void* argument) {
  for (;;) {
    fd_set set;
    struct timeval slice = {0, 20000};
    FD_ZERO(&set);
    FD_SET(wake[0], &set);
    if (select(wake[0] + 1, &set, NULL, NULL, &slice) != 0) return argument;
  }
}
static void* waits_in_slices(void* argument) {
  pthread_mutex_lock(&mutex);
  while (!end) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += 10000000;
    if (until.tv_nsec >= 1000000000) ++until.tv_sec, until.tv_nsec -= 1000000000;
    pthread_cond_timedwait(&changed, &mutex, &until);
  }
  pthread_mutex_unlock(&mutex);
  return argument;
}

static void helper_naps(void) {
  beside(naps);
}
static void helper_nanosleep(void) {
  beside(sleeps_precisely);
}
static void helper_poll(void) {
  beside(polls);
}
static void helper_poll_slices(void) {
  beside(polls_in_slices);
}
static void helper_select(void) {
  beside(selects);
}
static void helper_condition(void) {
  beside(waits_in_slices);
}

// --- one rank does it all, and what comes next differs
// --------------------------------------------

static void root_barrier(void) {
  rounds_of_ranks();
}
static void root_bcast(void) {
  double x = 1;
  ROUNDS {
    other(truth_ms / 5);
    share(rank, size, 0);
    TIMED(MPI_Bcast(&x, 1, MPI_DOUBLE, 0, world));
  }
}
static void root_scatter(void) {
  double all[16] = {0}, own;
  ROUNDS {
    share(rank, size, 0);
    TIMED(MPI_Scatter(all, 1, MPI_DOUBLE, &own, 1, MPI_DOUBLE, 0, world));
  }
}
static void root_reduce(void) {
  double x = 1, sum = 0;
  ROUNDS {
    share(rank, size, 0);
    TIMED(MPI_Reduce(&x, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, world));
    TIMED(MPI_Bcast(&sum, 1, MPI_DOUBLE, 0, world));
  }
}
static void root_receive(void) {
  double x = 1;
  ROUNDS {
    share(rank, size, 0);
    if (rank != 0) TIMED(MPI_Send(&x, 1, MPI_DOUBLE, 0, 1, world));
    if (rank == 0) TIMED(MPI_Recv(&x, 1, MPI_DOUBLE, 1, 1, world, MPI_STATUS_IGNORE));
    TIMED(MPI_Bcast(&x, 1, MPI_DOUBLE, 0, world));
  }
}
// The other rank has something else to do meanwhile: only the rest can be shared.
static void other_beside(void) {
  ROUNDS {
    if (rank == 0) other(truth_ms / 2);
    if (spread) {
      guilty(rank == 0 ? truth_ms / 4 : truth_ms * 3 / 4);
    } else if (rank == 1) {
      guilty(factor * truth_ms);
    }
    TIMED(MPI_Allreduce(MPI_IN_PLACE, (double[]){1}, 1, MPI_DOUBLE, MPI_SUM, world));
  }
}
static void hybrid(void) {
  ROUNDS {
#pragma omp parallel num_threads(2)
    share(rank, size, 1);
    TIMED(MPI_Barrier(world));
  }
}

// --- threads -------------------------------------------------------------------------------------

static void uneven_team(void) {
  ROUNDS {
#pragma omp parallel num_threads(4)
    share(omp_get_thread_num(), 4, 1);
  }
}
static void small_team(void) {
  ROUNDS {
#pragma omp parallel num_threads(4)
    other(truth_ms / 4);
#pragma omp parallel num_threads(spread ? 4 : 2)
    guilty(factor * truth_ms * (spread ? 0.5 : 1));
  }
}
static void serial_part(void) {
  ROUNDS {
    if (!spread) guilty(factor * truth_ms);
#pragma omp parallel num_threads(4)
    {
      if (spread) guilty(truth_ms / 4);
      other(truth_ms / 4);
    }
  }
}
static void items(int where) {
  ROUNDS {
#pragma omp parallel for schedule(dynamic) num_threads(4)
    for (int i = 0; i < 41; ++i) {
      if (i == (spread ? 0 : where)) {
        guilty(factor * truth_ms);
      } else {
        other(truth_ms / 50);
      }
    }
  }
}
static void item_last(void) {
  items(40);
}
static void item_first(void) {
  items(0);
}
static void large_chunks(void) {
  ROUNDS {
#pragma omp parallel num_threads(4)
    if (spread) {
#pragma omp for schedule(dynamic, 1)
      for (int i = 0; i < 25; ++i) guilty(truth_ms / 5 * 0.8);
    } else {
#pragma omp for schedule(dynamic, 5)
      for (int i = 0; i < 25; ++i) guilty(factor * truth_ms / 5 * 0.8);
    }
  }
}
static void one_single(void) {
  ROUNDS {
#pragma omp parallel num_threads(4)
    {
#pragma omp single
      guilty(factor * truth_ms);
      other(truth_ms / 4);
    }
  }
}
static void in_sections(void) {
  ROUNDS {
#pragma omp parallel sections num_threads(2)
    {
#pragma omp section
      guilty(factor * truth_ms);
#pragma omp section
      other(truth_ms / 4);
    }
  }
}
static void task_chain(void) {
  int x = 0;  // names what the tasks depend on
  (void)x;
  ROUNDS {
#pragma omp parallel num_threads(4)
#pragma omp single
    {
      for (int i = 0; i < 4; ++i) {
#pragma omp task depend(inout : x)
        guilty(factor * truth_ms / 4);
      }
#pragma omp task
      other(truth_ms / 4);
    }
  }
}
static void one_long_task(void) {
  ROUNDS {
#pragma omp parallel num_threads(4)
#pragma omp single
    {
      if (spread) {
#pragma omp task
        guilty(truth_ms);
      }
      for (int i = 0; i < 12; ++i) {
#pragma omp task
        other(truth_ms / 12);
      }
      if (!spread) {
#pragma omp task
        guilty(factor * truth_ms);
      }
    }
  }
}
static void critical_held(void) {
  ROUNDS {
#pragma omp parallel num_threads(4)
    {
#pragma omp critical
      guilty(factor * truth_ms / 4);
      other(truth_ms / 8);
    }
  }
}

#define CASE(name) {#name, name}
static const struct truth_case cases[] = {
    CASE(helper_naps),   CASE(helper_nanosleep), CASE(helper_poll),   CASE(helper_poll_slices),
    CASE(helper_select), CASE(helper_condition), CASE(root_barrier),  CASE(root_bcast),
    CASE(root_scatter),  CASE(root_reduce),      CASE(root_receive),  CASE(other_beside),
    CASE(hybrid),        CASE(uneven_team),      CASE(small_team),    CASE(serial_part),
    CASE(item_last),     CASE(item_first),       CASE(large_chunks),  CASE(one_single),
    CASE(in_sections),   CASE(task_chain),       CASE(one_long_task), CASE(critical_held)};

int main(int argc, char** argv) {
  read_change();
  if (pipe(wake) != 0) abort();
  return truth_mpi_main(argc, argv, cases, (int)(sizeof cases / sizeof cases[0]));
}
