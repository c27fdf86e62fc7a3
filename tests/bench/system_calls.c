/* SPDX-FileCopyrightText: The culprit authors
   SPDX-License-Identifier: Apache-2.0

   Times calls of the system that culprit stands in for and that do not sleep: what is added to them
   is the stand-in's own work. Run alone and under `culprit record`, in turn. It makes a thread
   first, so that it is worth recording; CPU time of its own thread, so that others on the machine
   disturb little. Prints "name nanoseconds" lines. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { kCalls = 2000000 };

static double cpu_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

#define TIMED(name, call)                                   \
  do {                                                      \
    const double begin = cpu_ns();                          \
    for (int i = 0; i < kCalls; ++i) call;                  \
    printf("%s %.1f\n", name, (cpu_ns() - begin) / kCalls); \
  } while (0)

static pthread_once_t once = PTHREAD_ONCE_INIT;
static void nothing(void) {}
static void* thread(void* argument) {
  return argument;
}

int main(void) {
  pthread_t other;
  if (pthread_create(&other, NULL, thread, NULL) != 0 || pthread_join(other, NULL) != 0) return 1;
  const int zeros = open("/dev/zero", O_RDONLY);
  FILE* const stream = fopen("/dev/zero", "r");
  char text[4];
  int word = 0;
  volatile size_t sum = 0;
  if (zeros < 0 || stream == NULL) return 1;
  TIMED("read", sum += (size_t)read(zeros, text, 1));
  TIMED("fread", sum += fread(text, 1, sizeof text, stream));
  TIMED("poll", sum += (size_t)poll(NULL, 0, 0));
  TIMED("futex_wake", sum += (size_t)syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, 0, 0, 0));
  TIMED("futex_wait", sum += (size_t)syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 1, 0, 0, 0));
  TIMED("getppid", sum += (size_t)syscall(SYS_getppid));
  TIMED("pthread_once", pthread_once(&once, nothing));
  return 0;
}
