/* SPDX-FileCopyrightText: The culprit authors
   SPDX-License-Identifier: Apache-2.0

   spins <flag | yield | nap | event>: a thread waits for main's work by looking at memory again and
   again, perhaps with naps between; of `event`, in a function that has the name of a well-known
   runtime's, and counts how often it looked. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { TURNS = 40 };
static atomic_int done;
static int yields, naps, events;

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

__attribute__((noinline)) static void integrate(double seconds) {
  volatile double x = 1;
  for (const double end = now() + seconds; now() < end;) {
    for (int i = 0; i < 2000; i++) x = x * 1.0000001;
  }
}

__attribute__((noinline)) static void look_until(int turn) {
  while (atomic_load(&done) < turn) {
  }
}

__attribute__((noinline)) static void yield_until(int turn) {
  while (atomic_load(&done) < turn) sched_yield();
}

__attribute__((noinline)) static void nap_until(int turn) {
  while (atomic_load(&done) < turn) usleep(200);
}

int tMPI_Event_wait(int turn);
static double looks;

__attribute__((noinline)) int tMPI_Event_wait(int turn) {
  while (atomic_load(&done) < turn) looks = looks * 0.5 + 1;
  return turn;
}

static void* follow(void* none) {
  for (int turn = 1; turn <= TURNS; turn++) {
    if (events) {
      tMPI_Event_wait(turn);
    } else if (yields) {
      yield_until(turn);
    } else if (naps) {
      nap_until(turn);
      integrate(0.005); /* else it would be a spare thread */
    } else {
      look_until(turn);
    }
  }
  return none;
}

int main(int argc, char** argv) {
  yields = argc > 1 && strcmp(argv[1], "yield") == 0;
  naps = argc > 1 && strcmp(argv[1], "nap") == 0;
  events = argc > 1 && strcmp(argv[1], "event") == 0;
  pthread_t thread;
  pthread_create(&thread, NULL, follow, NULL);
  for (int turn = 1; turn <= TURNS; turn++) {
    integrate(0.015);
    atomic_store(&done, turn);
  }
  pthread_join(thread, NULL);
  return 0;
}
