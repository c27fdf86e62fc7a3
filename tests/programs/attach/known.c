// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// known <case> <seconds>: does for so long what the case's name says, so that whoever looks at the
// program from outside can be judged. Shares are of work, so that a busy machine does not change
// them. It prints "ready" when all its threads do what they are to do, and at the end what was
// disturbed, if anything was.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <omp.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double g_until_s;
static atomic_int g_ready;
static volatile double g_sum;

static double clock_s(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
static int is_over(void) {
  return clock_s(CLOCK_MONOTONIC) > g_until_s;
}
static void say_ready(void) {
  puts("ready");
  fflush(stdout);
}

// Units of work rather than seconds: reading the clock is where a thread loses its core.
#define WORK(name)                                                                             \
  __attribute__((noinline)) static void name(int units) {                                      \
    for (int i = 0; i < 100000 * units; ++i) g_sum += __LINE__ / (i + 1.0); /* no two alike */ \
  }
WORK(three_quarters)
WORK(one_quarter)
WORK(holds_the_lock)
WORK(serial_part)
WORK(early_part)
WORK(late_part)

static void shares(void) {
  say_ready();
  while (!is_over()) {
    three_quarters(30);
    one_quarter(10);
  }
}

static pthread_mutex_t g_mutex = PTHREAD_MUTEX_INITIALIZER;

static void* wants_the_lock(void* unused) {
  pthread_mutex_lock(&g_mutex);
  pthread_mutex_unlock(&g_mutex);
  return unused;
}
static void lock(void) {
  pthread_t threads[2];
  pthread_mutex_lock(&g_mutex);
  for (int i = 0; i < 2; ++i) pthread_create(&threads[i], NULL, wants_the_lock, NULL);
  holds_the_lock(10);
  say_ready();
  while (!is_over()) holds_the_lock(20);
  pthread_mutex_unlock(&g_mutex);
  for (int i = 0; i < 2; ++i) pthread_join(threads[i], NULL);
}

static void serial(void) {
#pragma omp parallel num_threads(3)
  g_sum = omp_get_thread_num();
  usleep(100000);
  say_ready();
  while (!is_over()) {
    serial_part(50);
#pragma omp parallel num_threads(3)
    g_sum = omp_get_thread_num();
  }
}

static void imbalance(void) {
  say_ready();
  while (!is_over()) {
#pragma omp parallel num_threads(2)
    if (omp_get_thread_num() == 0)
      late_part(40);
    else
      early_part(1);
  }
}

static void* reads_a_pipe(void* end) {
  char byte;
  if (read(*(int*)end, &byte, 1) < 0) perror("read");
  return NULL;
}
static void* waits_for_a_child(void* child) {
  waitpid(*(pid_t*)child, NULL, 0);
  return NULL;
}
static void* waits_for_a_semaphore(void* semaphore) {
  sem_wait(semaphore);
  return NULL;
}
static void* joins(void* other) {
  pthread_join(*(pthread_t*)other, NULL);
  return NULL;
}
static void sleeps_a_while(void) {
  while (!is_over()) usleep(100000);
}
static void blocked(void) {
  int ends[2];
  sem_t semaphore;
  pthread_t threads[4];
  if (pipe(ends) != 0 || sem_init(&semaphore, 0, 0) != 0) exit(1);
  pid_t child = fork();
  if (child == 0) {
    close(ends[1]);
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* the program may be killed */
    pause();
    _exit(0);
  }
  pthread_create(&threads[0], NULL, reads_a_pipe, &ends[0]);
  pthread_create(&threads[1], NULL, waits_for_a_child, &child);
  pthread_create(&threads[2], NULL, waits_for_a_semaphore, &semaphore);
  pthread_create(&threads[3], NULL, joins, &threads[2]);
  usleep(100000);
  say_ready();
  sleeps_a_while();
  kill(child, SIGKILL);
  sem_post(&semaphore);
  if (write(ends[1], "x", 1) != 1) exit(1);
  pthread_join(threads[0], NULL);
  pthread_join(threads[1], NULL);
  pthread_join(threads[3], NULL);
}

// Calls that must not fail, and signals that must not be lost, however often somebody looks.
static volatile sig_atomic_t g_ticks;
static void tick(int signal) {
  (void)signal;
  ++g_ticks;
}
static long g_failed;
static void* waits_for_events(void* unused) {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, NULL);
  const int epoll = epoll_create1(0);
  struct epoll_event event;
  ++g_ready;
  while (!is_over()) {
    if (epoll_wait(epoll, &event, 1, 200) < 0) ++g_failed;
  }
  close(epoll);
  return unused;
}
static void signals(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, waits_for_events, NULL);
  while (g_ready == 0) usleep(1000);
  signal(SIGALRM, tick);
  const struct itimerval every = {{0, 2000}, {0, 2000}};
  setitimer(ITIMER_REAL, &every, NULL);
  say_ready();
  while (!is_over()) three_quarters(10);
  setitimer(ITIMER_REAL, &(struct itimerval){{0, 0}, {0, 0}}, NULL);
  pthread_join(thread, NULL);
  printf("failed %ld, signals %s\n", g_failed, g_ticks > 0 ? "came" : "did not come");
}

static void* works_shortly(void* unused) {
  one_quarter(5);
  return unused;
}
static void short_threads(void) {
  say_ready();
  while (!is_over()) {
    pthread_t threads[4];
    for (int i = 0; i < 4; ++i) pthread_create(&threads[i], NULL, works_shortly, NULL);
    for (int i = 0; i < 4; ++i) pthread_join(threads[i], NULL);
  }
}

int main(int argc, char** argv) {
  static const struct {
    const char* name;
    void (*run)(void);
  } kCases[] = {{"shares", shares},
                {"lock", lock},
                {"serial", serial},
                {"imbalance", imbalance},
                {"blocked", blocked},
                {"signals", signals},
                {"short_threads", short_threads}};
  if (argc != 3) return 2;
  g_until_s = clock_s(CLOCK_MONOTONIC) + atof(argv[2]);
  for (size_t i = 0; i < sizeof kCases / sizeof *kCases; ++i) {
    if (strcmp(argv[1], kCases[i].name) == 0) return kCases[i].run(), 0;
  }
  return 2;
}
