/* SPDX-FileCopyrightText: The culprit authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * What the programs share in which main waits for others: the work, kTimes times kMs of it. */
#pragma once

#include <stdio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { kTimes = 3, kMs = 60 };
static volatile unsigned long work = 0;
static char name[64];

/* So long by the clock, so that who waits waits as long. */
__attribute__((noinline)) static void heavy(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  const long end = now.tv_sec * 1000000000l + now.tv_nsec + kMs * 1000000l;
  do {
    for (int i = 0; i < 10000; ++i) work = work * 3 + 1;
    clock_gettime(CLOCK_MONOTONIC, &now);
  } while (now.tv_sec * 1000000000l + now.tv_nsec < end);
}

static void check(int is_right, const char* what) {
  if (is_right) return;
  perror(what);
  _exit(1);
}

static void wait_for(pid_t child) {
  int status = 0;
  check(waitpid(child, &status, 0) == child && status == 0, "waitpid");
}
