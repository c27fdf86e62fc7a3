/* SPDX-FileCopyrightText: The culprit authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Two threads of a team, and one of the program's own, which do nothing that a sanitizer minds.
 * With an argument it writes behind an allocation, which one of them minds. */
#include <omp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static void* run(void* argument) {
  char* const memory = malloc(100);
  if (memory != NULL) memory[99] = *(const char*)argument;
  free(memory);
  return NULL;
}

int main(int argc, char** argv) {
  pthread_t thread;
  char value = 1;
  if (pthread_create(&thread, NULL, run, &value) == 0) pthread_join(thread, NULL);
  int members[2] = {0, 0};
#pragma omp parallel num_threads(2)
  members[omp_get_thread_num()] = 1;
  volatile char* const memory = malloc(10);
  if (argc > 1) memory[10 * atoi(argv[1])] = value;
  free((void*)memory);
  printf("sanitized: %d\n", members[0] + members[1]);
  return 0;
}
