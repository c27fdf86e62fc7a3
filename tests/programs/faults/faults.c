// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Two threads, each of which touches fresh memory page by page in one function and computes in
// another, by turns; with an argument, they hardly compute. Prints how many pages it touched.
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define TURNS 40
#define BYTES ((size_t)16 << 20)

static size_t pages;

__attribute__((noinline)) static double touch_memory(void) {
  char* memory = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) abort();
  madvise(memory, BYTES, MADV_NOHUGEPAGE);
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  double sum = 0;
  for (size_t at = 0; at < BYTES; at += page) {
    memory[at] = 1;
    sum += memory[at];
  }
  munmap(memory, BYTES);
#pragma omp atomic
  pages += BYTES / page;
  return sum;
}

__attribute__((noinline)) static double compute(int steps) {
  volatile double sum = 1;
  for (int i = 0; i < steps; ++i) sum = sum * 0.999 + i;
  return sum;
}

int main(int argc, char** argv) {
  (void)argv;
  const int steps = argc > 1 ? 1000 : 8000000;
  double sum = 0;
#pragma omp parallel num_threads(2) reduction(+ : sum)
  for (int i = 0; i < TURNS; ++i) {
    sum += touch_memory();
    sum += compute(steps);
  }
  printf("touched %zu pages (%g)\n", pages, sum);
  return 0;
}
