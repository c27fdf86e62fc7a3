/* SPDX-FileCopyrightText: The culprit authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * One way of waiting in OpenMP for each argument, each of a length known by construction:
 * openmp_waits.py states what culprit must find. Work is sleep, so that threads may outnumber
 * cores. */
#include <omp.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define FUNCTION static __attribute__((noinline))

static void sleep_ms(long ms) {
  struct timespec left = {0, ms * 1000000L};
  while (nanosleep(&left, &left) != 0) continue;
}

static int begun;

/* A task that another thread executes while its creator waits for it. (Who waits at a barrier must
 * be awake to take it: OMP_WAIT_POLICY=active.) */
static void long_task_ms(long ms) {
  __atomic_store_n(&begun, 1, __ATOMIC_RELEASE);
  sleep_ms(ms);
}

static void wait_until_begun(void) {
  while (!__atomic_load_n(&begun, __ATOMIC_ACQUIRE)) sleep_ms(1);
  __atomic_store_n(&begun, 0, __ATOMIC_RELAXED);
}

FUNCTION void critical(void) {
#pragma omp parallel num_threads(4)
  for (int round = 0; round < 4; ++round) {
#pragma omp barrier
#pragma omp critical
    sleep_ms(20);
  }
}

/* The lock is held across a barrier. */
FUNCTION void lock(void) {
  omp_lock_t lock;
  omp_init_lock(&lock);
#pragma omp parallel num_threads(3)
  for (int round = 0; round < 3; ++round) {
    if (omp_get_thread_num() == 0) omp_set_lock(&lock);
#pragma omp barrier
    if (omp_get_thread_num() == 0) {
      sleep_ms(60);
    } else {
      omp_set_lock(&lock);
    }
    omp_unset_lock(&lock);
#pragma omp barrier
  }
  omp_destroy_lock(&lock);
}

/* It is free when it was released as often as it was acquired. */
FUNCTION void nest_lock(void) {
  omp_nest_lock_t lock;
  omp_init_nest_lock(&lock);
#pragma omp parallel num_threads(3)
  for (int round = 0; round < 3; ++round) {
    if (omp_get_thread_num() == 0) omp_set_nest_lock(&lock);
#pragma omp barrier
    if (omp_get_thread_num() == 0) {
      omp_set_nest_lock(&lock);
      sleep_ms(30);
      omp_unset_nest_lock(&lock);
      sleep_ms(30);
    } else {
      omp_set_nest_lock(&lock);
    }
    omp_unset_nest_lock(&lock);
#pragma omp barrier
  }
  omp_destroy_nest_lock(&lock);
}

/* Tests do not wait, however long they take. */
FUNCTION void test_lock(void) {
  omp_lock_t lock;
  omp_init_lock(&lock);
#pragma omp parallel num_threads(2)
  {
    if (omp_get_thread_num() == 0) omp_set_lock(&lock);
#pragma omp barrier
    if (omp_get_thread_num() == 0) {
      sleep_ms(60);
    } else {
      while (!omp_test_lock(&lock)) sleep_ms(5);
    }
    omp_unset_lock(&lock);
  }
  omp_destroy_lock(&lock);
}

FUNCTION void ordered(void) {
#pragma omp parallel num_threads(4)
  for (int round = 0; round < 4; ++round) {
#pragma omp barrier
#pragma omp for ordered schedule(static, 1)
    for (int i = 0; i < 4; ++i) {
#pragma omp ordered
      sleep_ms(20);
    }
  }
}

FUNCTION void taskwait(void) {
#pragma omp parallel num_threads(2)
#pragma omp single
  for (int round = 0; round < 2; ++round) {
#pragma omp task
    long_task_ms(150);
    wait_until_begun();
#pragma omp taskwait
  }
}

/* The group's own task is over soon; one that it created is not. */
FUNCTION void taskgroup(void) {
#pragma omp parallel num_threads(2)
#pragma omp single
  for (int round = 0; round < 2; ++round) {
#pragma omp taskgroup
    {
#pragma omp task
      {
#pragma omp task
        long_task_ms(150);
      }
      wait_until_begun();
    }
  }
}

FUNCTION void dependence(void) {
  int data = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
  for (int round = 0; round < 2; ++round) {
#pragma omp task depend(out : data) shared(data)
    {
      long_task_ms(150);
      ++data;
    }
    wait_until_begun();
#pragma omp taskwait depend(in : data)
  }
}

/* One thread must wait for a task of another before it may execute its own, at once. */
FUNCTION void undeferred(void) {
  int data = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
  for (int round = 0; round < 2; ++round) {
#pragma omp task depend(out : data) shared(data)
    {
      long_task_ms(150);
      ++data;
    }
    wait_until_begun();
#pragma omp task if (0) depend(inout : data) shared(data)
    ++data;
  }
}

FUNCTION void late_tasks(void) {
#pragma omp parallel num_threads(3)
#pragma omp single
  for (int task = 0; task < 5; ++task) {
    sleep_ms(60);
#pragma omp task
    sleep_ms(0);
  }
}

FUNCTION void long_task(void) {
  for (int round = 0; round < 3; ++round) {
#pragma omp parallel num_threads(3)
#pragma omp single
    {
#pragma omp task
      sleep_ms(100);
    }
  }
}

FUNCTION void single(void) {
#pragma omp parallel num_threads(4)
  for (int round = 0; round < 4; ++round) {
#pragma omp single
    sleep_ms(30);
  }
}

FUNCTION void sections(void) {
#pragma omp parallel num_threads(3)
  for (int round = 0; round < 4; ++round) {
#pragma omp sections
    {
#pragma omp section
      sleep_ms(20);
#pragma omp section
      sleep_ms(60);
    }
  }
}

FUNCTION void masked(void) {
#pragma omp parallel num_threads(3)
  for (int round = 0; round < 4; ++round) {
#pragma omp master
    sleep_ms(40);
#pragma omp barrier
  }
}

/* Thread 1 prepares alone, and then forks: who waits for that is the inner team's other thread. */
FUNCTION void nested(void) {
  omp_set_max_active_levels(2);
#pragma omp parallel num_threads(2)
  if (omp_get_thread_num() == 1) {
    for (int round = 0; round < 4; ++round) {
      sleep_ms(50);
#pragma omp parallel num_threads(2)
      sleep_ms(20);
    }
  }
}

/* A thread that a team leaves out waits on for the one that takes it. */
FUNCTION void smaller_teams(void) {
#pragma omp parallel num_threads(3)
  sleep_ms(0);
  for (int round = 0; round < 3; ++round) {
#pragma omp parallel num_threads(2)
    sleep_ms(60);
#pragma omp parallel num_threads(3)
    sleep_ms(0);
  }
}

int main(int argc, char** argv) {
  static const struct {
    const char* name;
    void (*run)(void);
  } ways[] = {{"critical", critical},     {"lock", lock},
              {"nest_lock", nest_lock},   {"test_lock", test_lock},
              {"ordered", ordered},       {"taskwait", taskwait},
              {"taskgroup", taskgroup},   {"dependence", dependence},
              {"undeferred", undeferred}, {"late_tasks", late_tasks},
              {"long_task", long_task},   {"single", single},
              {"sections", sections},     {"masked", masked},
              {"nested", nested},         {"smaller_teams", smaller_teams}};
  for (size_t i = 0; argc == 2 && i < sizeof ways / sizeof *ways; ++i) {
    if (strcmp(argv[1], ways[i].name) != 0) continue;
    ways[i].run();
    printf("openmp_waits: %s done\n", argv[1]);
    return 0;
  }
  return 1;
}
