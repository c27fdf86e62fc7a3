/* SPDX-FileCopyrightText: The culprit authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * steady <seconds> [abort | exit | fork]: short parallel regions, one after the
 * other, kFirst of them and then until the time is over. The last thread of each team has more to
 * do. Prints how many computed something wrong, and ends as asked: by abort(), or by _exit() while
 * the threads live. fork: in the middle it forks a child, which lives for a while and does nothing.
 */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kFirst = 12000 };

static double work(int rounds) {
  volatile double x = 1;
  for (int i = 0; i < rounds; ++i) x = x * 1.0;
  return x;
}

static __attribute__((noinline)) double update_cells(void) {
  return work(2000);
}

static __attribute__((noinline)) double resolve_contacts(void) {
  return work(20000);
}

static int sweep(void) {
  int wrong = 0;
#pragma omp parallel num_threads(2) reduction(+ : wrong)
  {
    double x = update_cells();
    if (omp_get_thread_num() == 1) x *= resolve_contacts();
    if (x != 1) ++wrong;
  }
  return wrong;
}

static pid_t fork_child(void) {
  const pid_t child = fork();
  if (child != 0) return child;
  usleep(300000);
  _exit(0);
}

int main(int argc, char** argv) {
  const double lasting = argc > 1 ? atof(argv[1]) : 1;
  const char* const end = argc > 2 ? argv[2] : "";
  int wrong = 0, is_half = 0;
  pid_t child = 0;
  for (int i = 0; i < kFirst; ++i) wrong += sweep();
  for (const double begin = omp_get_wtime(); omp_get_wtime() < begin + lasting;) {
    wrong += sweep();
    if (is_half || omp_get_wtime() < begin + lasting / 2) continue;
    is_half = 1;
    if (strcmp(end, "fork") == 0) child = fork_child();
  }
  if (child > 0) waitpid(child, NULL, 0);
  printf("steady: %d wrong\n", wrong);
  fflush(stdout);
  if (strcmp(end, "abort") == 0) abort();
  if (strcmp(end, "exit") == 0) _exit(7);
  return 0;
}
