/* SPDX-FileCopyrightText: The culprit authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * The smallest program that culprit records: two threads, one region, one of them late. Returns its
 * argument. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

int main(int argc, char** argv) {
#pragma omp parallel num_threads(2)
  if (omp_get_thread_num() == 1) {
    const struct timespec nap = {0, 20 * 1000 * 1000};
    nanosleep(&nap, NULL);
  }
  puts("threads: done");
  return argc > 1 ? atoi(argv[1]) : 0;
}
