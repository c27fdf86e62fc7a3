/* SPDX-FileCopyrightText: The culprit authors
   SPDX-License-Identifier: Apache-2.0

   A library that runs a team while it is being loaded, when its thread holds the loader's lock;
   and, built with LOADER, the program that loads it. */
#ifdef LOADER
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char** argv) {
  void* library = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
  if (library == NULL) return 2;
  const int* sum = (const int*)dlsym(library, "sum");
  printf("%d\n", sum != NULL ? *sum : -1);
  return 0;
}
#else
int sum = 0;

/* Each thread is the first to call something: both come to each construct. */
__attribute__((constructor)) static void work(void) {
#pragma omp parallel num_threads(2)
  {
#pragma omp barrier
#pragma omp for schedule(dynamic)
    for (int i = 0; i < 10; ++i) {
#pragma omp atomic
      sum += i;
    }
#pragma omp critical
    ++sum;
#pragma omp task
    {
#pragma omp atomic
      ++sum;
    }
#pragma omp taskwait
  }
}
#endif
